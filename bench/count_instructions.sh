#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Instructions per element of the main operations, counted by callgrind: the one figure that does not move with the
# machine's load. Two run lengths are subtracted, so that start-up cancels. Ends with 1 if a limit is passed.
#   count_instructions.sh <fp4_count_instructions>
set -euo pipefail
program=$1
elements=$((64 * 4096))

count() {  # operation passes -> instructions
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$1" "$2" 2>&1 >/dev/null |
    awk '/Collected/ { print $4 }'
}

command -v valgrind >/dev/null || { echo "count_instructions: skipped: valgrind was not found"; exit 0; }
failed=0
printf '%-22s %12s %8s\n' operation instructions limit
while read -r operation limit; do
  few=$(count "$operation" 2)
  many=$(count "$operation" 6)
  awk -v op="$operation" -v n=$((many - few)) -v e=$((4 * elements)) -v limit="$limit" 'BEGIN {
    printf "%-22s %12.3f %8s%s\n", op, n / e, limit, (n / e > limit ? "  over the limit" : "")
    exit n / e > limit }' || failed=1
done <<'OPERATIONS'
nearest 2.1
stochastic 5.4
hadamard16_nearest 3.4
dequantize 1.15
OPERATIONS
exit $failed
