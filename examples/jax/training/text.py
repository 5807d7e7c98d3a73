# SPDX-License-Identifier: Apache-2.0
"""The text: bytes of files, one file in 20 held out."""

import glob
import hashlib
import os

import numpy as np

# Debian's perl-doc: 8 MB of manuals. perltoc repeats the headings of the others and perluniprops is a table.
PERL_DOC = "/usr/share/perl/*/pod/*.pod"
LEFT_OUT = ("perltoc.pod", "perluniprops.pod")


class Text:
    """training and held_out: uint8 arrays. name: what it is, with a digest, so that runs on other text are not mixed."""

    def __init__(self, pattern=PERL_DOC):
        # A file that two names lead to counts once, so that nothing is held out and trained on as well.
        files = sorted({os.path.realpath(f) for f in glob.glob(pattern, recursive=True) if not f.endswith(LEFT_OUT)})
        if not files:
            raise SystemExit(f"train: no file matches {pattern} (Debian: apt-get install perl-doc; or --text 'GLOB')")
        parts = [np.frombuffer(open(file, "rb").read(), np.uint8) for file in files]
        if len(files) >= 20:
            self.training = np.concatenate([part for i, part in enumerate(parts) if i % 20 != 19])
            self.held_out = np.concatenate(parts[19::20])
        else:  # the last twentieth of the bytes
            everything = np.concatenate(parts)
            cut = len(everything) * 19 // 20
            self.training, self.held_out = everything[:cut], everything[cut:]
        digest = hashlib.sha256(self.training.tobytes() + self.held_out.tobytes()).hexdigest()[:12]
        self.name = f"{len(files)} files, {len(self.training)} + {len(self.held_out)} bytes, sha256 {digest}"

    def batch(self, seed, step, batch, length):
        """[batch, length] bytes at places that only seed and step decide."""
        places = np.random.default_rng([seed, 1, step]).integers(0, len(self.training) - length, batch)
        return self.training[places[:, None] + np.arange(length)]

    def held_out_batches(self, count, batch, length):
        """The same [count, batch, length] bytes always, spread over what is held out."""
        places = np.linspace(0, len(self.held_out) - length, count * batch).astype(np.int64)
        return self.held_out[places[:, None] + np.arange(length)].reshape(count, batch, length)
