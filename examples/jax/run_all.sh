#!/usr/bin/env bash
# Every run of docs/training.md, one process a CPU. After an interruption start it again: what was done is not repeated.
#
#   examples/jax/run_all.sh [PYTHON] [OUT]
#
# PYTHON has fp4-jax, optax and matplotlib; OUT is the folder of the runs.
set -euo pipefail
python=${1:-python3} out=${2:-runs}
here=$(dirname "$0")

# Memory that XLA frees after each step is kept for the next one: a tenth of the time.
export MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=4294967296 MALLOC_ARENA_MAX=1

trap 'kill $(jobs -p) 2>/dev/null || true; wait' INT TERM
for cpu in $("$python" -c 'import os; print(*sorted(os.sched_getaffinity(0)))'); do
  taskset -c "$cpu" "$python" "$here/train.py" all --out "$out" &
done
wait
"$python" "$here/train.py" plot --out "$out"
