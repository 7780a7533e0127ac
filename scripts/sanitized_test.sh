#!/usr/bin/env bash
# Builds the preset of a sanitizer and runs tests under it: sanitized_test.sh asan|tsan [CTEST-ARGUMENT]...
# Where the sanitizer's run time does not work (some kernels lay out memory as it does not expect), says so and passes.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/setup.sh

preset=${1:?asan or tsan}
shift
case "$preset" in
  asan) sanitizers=address,undefined ;;
  tsan) sanitizers=thread ;;
  *) echo "no such preset: $preset; asan or tsan" >&2; exit 1 ;;
esac

install_packages "${build_packages[@]}" "${test_packages[@]}"

probe=$(mktemp)
trap 'rm -f "$probe"' EXIT
if ! { echo 'int main() {}' | c++ -fsanitize="$sanitizers" -x c++ - -o "$probe" && "$probe"; }; then
  echo "Skipped: a program with -fsanitize=$sanitizers does not run here."
  exit 0
fi

cmake --preset "$preset"
cmake --build --preset "$preset" --parallel "$(nproc)"
ctest --preset "$preset" --parallel "$(nproc)" "$@"
