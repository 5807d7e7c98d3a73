# SPDX-License-Identifier: Apache-2.0
"""A bar on a terminal, a line now and then elsewhere."""

import sys
import time


class Progress:
    def __init__(self, name, first, last):
        self.name, self.first, self.last = name, first, last
        self.begin = self.shown = time.monotonic()
        self.is_terminal = sys.stderr.isatty()

    def show(self, step, loss, force=False):
        now = time.monotonic()
        if not force and now - self.shown < (0.2 if self.is_terminal else 30):
            return
        self.shown = now
        each = (now - self.begin) / max(1, step - self.first)
        left = each * (self.last - step)
        text = f"step {step}/{self.last}  loss {loss:.4f}  {1000 * each:.0f} ms a step  {left / 60:.1f} min left"
        if self.is_terminal:
            done = 24 * step // self.last
            sys.stderr.write(f"\r{self.name} [{'#' * done}{' ' * (24 - done)}] {text}\x1b[K")
        else:
            sys.stderr.write(f"{self.name}: {text}\n")
        sys.stderr.flush()

    def end(self, text):
        sys.stderr.write(f"\n{self.name}: {text}\n" if self.is_terminal else f"{self.name}: {text}\n")
        sys.stderr.flush()
