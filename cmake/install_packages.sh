#!/usr/bin/env bash
# Installs the Debian packages named on the command line that are missing; as root, or with sudo.
# usage: cmake/install_packages.sh build|tests|bench|clang|demo ...
set -euo pipefail

packages_for() {
  case "$1" in
    build) echo g++ cmake ninja-build pkg-config libtbb-dev libeigen3-dev libhwy-dev libcli11-dev nlohmann-json3-dev \
                libtomlplusplus-dev libfmt-dev zlib1g-dev ;;
    tests) echo doctest-dev libexpat1-dev ;;
    bench) echo libbenchmark-dev ;;
    clang) echo clang libclang-rt-14-dev ;;
    demo)  echo dataset-fashion-mnist ;;
    *) echo "install_packages.sh: unknown group '$1' (build, tests, bench, clang, demo)" >&2; exit 2 ;;
  esac
}

wanted=()
for group in "$@"; do
  read -r -a names <<< "$(packages_for "$group")"
  wanted+=("${names[@]}")
done

missing=()
for name in "${wanted[@]}"; do
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null || true)" = installed ] || missing+=("$name")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "These packages are missing, and neither root nor sudo is at hand: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "Installing: ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
