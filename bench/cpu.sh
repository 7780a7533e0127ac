#!/usr/bin/env bash
# Rates of the CPU backend on the benchmark shape (docs/domain.md, section 5), as a JSON array with the machine's facts.
#   bench/cpu.sh > bench/results/cpu_rates.json
set -euo pipefail
cd "$(dirname "$0")/.."

processor=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
commit=$(git rev-parse --short HEAD)

printf '[\n {"processor": "%s", "commit": "%s"}' "$processor" "$commit"
while read -r arguments; do
  printf ',\n'
  # shellcheck disable=SC2086  # the words are arguments
  build/warptape bench $arguments --repeats 7 --json
done <<'RUNS'
collect --episodes 128 --steps 500
collect --episodes 128 --steps 500 --all-outputs
collect --episodes 4096 --steps 50
collect --episodes 4096 --steps 50 --all-outputs
learn --batch 256 --updates 100
learn --batch 1024 --updates 50
RUNS
printf ']\n'
