#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test: unit, conformance and command-line tests with warnings as
# errors, and the installed library from a separate project (dev); again under the address and undefined-behaviour
# sanitizers, and a minute of libFuzzer from a fixed seed for every reader, the checkpoint and the configuration file
# (asan-ubsan, with the second compiler); what runs threads under the thread sanitizer (tsan). The benchmarks are
# built, not run.
# usage: tests/run.sh [dev] [asan-ubsan] [tsan]   (default: all)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
[ $# -gt 0 ] || set -- dev asan-ubsan tsan
jobs=$(nproc)

bash cmake/install_packages.sh build tests bench
case " $* " in *" asan-ubsan "*) bash cmake/install_packages.sh clang ;; esac

for preset in "$@"; do
  echo "== $preset: build"
  cmake --preset "$preset" >/dev/null
  cmake --build --preset "$preset" -- -j "$jobs"
  echo "== $preset: tests"
  ctest --preset "$preset" -j "$jobs"
done
echo "All tests passed: $*"
