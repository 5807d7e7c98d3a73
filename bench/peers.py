#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times what a Python user without fp4 would write: NVFP4 block quantization by NumPy and ml_dtypes.

    python3 -m venv venv && venv/bin/pip install numpy ml_dtypes
    venv/bin/python bench/peers.py --json=peers.json

The arithmetic is that of fp4::transformer_engine. One thread, timed by its processor clock; medians.
"""

import argparse
import json
import statistics
import time

import ml_dtypes
import numpy as np

BLOCK = 16
RANGE = np.float32(6 * 448)
# Elements; the names are those of fp4_bench.
SIZES = {"L2": 128 * 512, "L3": 256 * 4096}


def quantize(x, amax):
    """float32 [n], n a multiple of 16 -> packed codes [n / 2], scales [n / 16]."""
    blocks = x.reshape(-1, BLOCK)
    encode = RANGE / amax
    block_amax = np.abs(blocks).max(axis=1)
    scales = (block_amax * (encode * np.float32(1 / 6))).astype(ml_dtypes.float8_e4m3fn)
    multiplier = 1 / (scales.astype(np.float32) * (1 / encode))
    codes = (blocks * multiplier[:, None]).astype(ml_dtypes.float4_e2m1fn).view(np.uint8).reshape(-1) & 0xF
    return codes[0::2] | codes[1::2] << 4, scales


def dequantize(packed, scales, amax):
    codes = np.empty(packed.size * 2, np.uint8)
    codes[0::2] = packed & 0xF
    codes[1::2] = packed >> 4
    values = codes.view(ml_dtypes.float4_e2m1fn).astype(np.float32).reshape(-1, BLOCK)
    factor = scales.astype(np.float32) * amax * (1 / RANGE)
    return (values * factor[:, None]).reshape(-1)


def seconds_of(work, least_seconds=1.0, least_rounds=5):
    work()
    times = []
    while len(times) < least_rounds or sum(times) < least_seconds:
        before = time.thread_time()
        work()
        times.append(time.thread_time() - before)
    return statistics.median(times)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--json", help="also write the results there")
    json_path = arguments.parse_args().json

    results = []
    for size, count in SIZES.items():
        x = np.random.default_rng(42).standard_normal(count, dtype=np.float32)
        amax = np.abs(x).max()
        packed, scales = quantize(x, amax)
        error = np.square(dequantize(packed, scales, amax) - x).mean()
        assert error < 0.02, f"the round trip is wrong: mean square error {error}"
        for operation, work in (("quantize", lambda: quantize(x, amax)),
                                ("dequantize", lambda: dequantize(packed, scales, amax))):
            rate = x.nbytes / seconds_of(work)
            results.append({"operation": f"peer/ml_dtypes_{operation}", "type": "fp32", "size": size,
                            "GB/s": rate * 1e-9})
            print(f"ml_dtypes {ml_dtypes.__version__} {operation:10} {size:3} {rate * 1e-9:6.3f} GB/s of fp32")
    if json_path:
        context = {"numpy": np.__version__, "ml_dtypes": ml_dtypes.__version__}
        with open(json_path, "w", encoding="utf-8") as file:
            json.dump({"context": context, "results": results}, file, indent=1)


if __name__ == "__main__":
    main()
