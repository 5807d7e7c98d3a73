# SPDX-License-Identifier: Apache-2.0
"""quantize, dequantize and hadamard for PyTorch, compiled at the first import.

    import sys; sys.path.insert(0, "examples/torch")
    import torch, fp4_torch
    codes, scales, amax = fp4_torch.quantize(torch.randn(64, 256))
    values = fp4_torch.dequantize(codes, scales, amax, cols=256)
"""

import pathlib

from torch.utils.cpp_extension import load

_here = pathlib.Path(__file__).parent
_library = load("fp4_torch_library", [_here / "fp4_torch.cpp"], extra_cflags=["-O2"],
                extra_include_paths=[str(_here.parents[1] / "include")])
quantize, dequantize, hadamard = _library.quantize, _library.dequantize, _library.hadamard
