# SPDX-License-Identifier: Apache-2.0
"""What examples/jax/train.py is made of. Not part of the package: it is to be read and changed."""
