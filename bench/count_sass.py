#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Issue slots an element on the hot path of a kernel, from its machine code: no GPU needed.

    nvcc -std=c++17 -O2 -Iinclude -arch=sm_90 -cubin -o k.cubin k.cu
    python3 bench/count_sass.py k.cubin --elements 64 --loads 8 --stores 4 --conversions 36

The hot path is the shortest way from a loop's wide load round to itself that makes the given number of wide
loads, of wide stores and of packed conversions (F2FP): so many belong to `elements` elements a thread, and a way that
leaves out a block makes fewer. nvdisasm is that of the toolkit or of PyPI's nvidia-cuda-nvdisasm (--nvdisasm).
"""
import argparse
import heapq
import re
import subprocess


def kernels(cubin, nvdisasm):
    text = subprocess.run([nvdisasm, "-c", cubin], check=True, capture_output=True, text=True).stdout
    for part in re.split(r"^\.section\s+\.text\.|^//-+ \.text\.", text, flags=re.M)[1:]:
        name = part.split(None, 1)[0].rstrip(",")
        code, labels = [], {}
        for line in part.splitlines():
            if label := re.match(r"^(\S+):\s*$", line):
                labels[label[1]] = len(code)
            elif found := re.match(r"^\s+/\*[0-9a-f]+\*/\s+(.*?)\s*;", line):
                code.append(found[1])
        if code:
            yield name, code, labels


def successors(code, labels, at):
    text = code[at]
    guarded = text.startswith("@") and not text.startswith("@!PT")
    op = re.sub(r"^@!?U?P\w+\s+", "", text)
    if op.startswith("EXIT") or op.startswith("RET"):
        return [at + 1] if guarded else []
    if op.startswith("BRA"):
        target = re.search(r"`\((.*?)\)", op)
        guarded = guarded or bool(re.match(r"BRA(\.\S+)?\s+!?U?P\d", op))
        return ([labels[target[1]]] if target and target[1] in labels else []) + ([at + 1] if guarded else [])
    return [at + 1]


def hot_path(code, labels, wanted, load, store):
    kinds = [re.compile(load), re.compile(store), re.compile(r"\bF2FP\b")]
    starts = [i for i, text in enumerate(code) if kinds[0].search(text)]
    best = None
    for start in starts:
        first = (start, 0, 0, 0)
        cost, came, queue = {first: 0}, {}, [(0, first)]
        while queue:
            spent, state = heapq.heappop(queue)
            if spent > cost[state]:
                continue
            at, *counts = state
            counts = tuple(min(w, n + bool(k.search(code[at]))) for w, n, k in zip(wanted, counts, kinds))
            for to in successors(code, labels, at):
                if to >= len(code):
                    continue
                new = (to, *counts)
                if to == start and counts != wanted:
                    continue
                if spent + 1 < cost.get(new, 1 << 30):
                    cost[new], came[new] = spent + 1, state
                    heapq.heappush(queue, (spent + 1, new))
        end = (start, *wanted)
        if end in cost and (best is None or cost[end] < best[0]):
            path = [end]
            while path[-1] in came and path[-1] != first:
                path.append(came[path[-1]])
            best = (cost[end], [code[s[0]] for s in reversed(path[1:])])
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cubin")
    parser.add_argument("--elements", type=int, default=64)
    parser.add_argument("--loads", type=int, default=8)
    parser.add_argument("--load", default=r"\bLDG\.\S*(128|256)", help="what counts as a wide load")
    parser.add_argument("--stores", type=int, default=4)
    parser.add_argument("--store", default=r"\bSTG\.\S*(64|128|256)", help="what counts as a wide store")
    parser.add_argument("--conversions", type=int, default=36)
    parser.add_argument("--nvdisasm", default="nvdisasm")
    parser.add_argument("--most", type=float, help="fail above this many slots an element")
    parser.add_argument("--kinds", action="store_true", help="print how often each instruction occurs")
    args = parser.parse_args()
    worst = 0.0
    for name, code, labels in kernels(args.cubin, args.nvdisasm):
        found = hot_path(code, labels, (args.loads, args.stores, args.conversions), args.load, args.store)
        if found is None:
            continue
        worst = max(worst, found[0] / args.elements)
        print(f"{found[0] / args.elements:.2f} slots an element ({found[0]} for {args.elements})  {name[:100]}")
        if args.kinds:
            ops = [re.sub(r"^@!?U?P\w+\s+", "", text).split()[0] for text in found[1]]
            for op in sorted(set(ops), key=lambda o: -ops.count(o)):
                print(f"    {ops.count(op):4}  {op}")
    if worst == 0:
        raise SystemExit("no kernel has such a path")
    if args.most is not None and worst > args.most:
        raise SystemExit(f"more than {args.most} slots an element")


if __name__ == "__main__":
    main()
