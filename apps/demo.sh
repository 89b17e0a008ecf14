#!/usr/bin/env bash
# The main job from a fresh clone: installs what is missing, builds, and cleans Fashion-MNIST with 40 % wrong labels from
# 5 % trusted rows: an asynchronous bilevel solve, the honest measures, and one line per training row.
# usage: apps/demo.sh [DIRECTORY]   (default: adbo-out)
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=${1:-"$root/adbo-out"}
data=/usr/share/datasets/fashion-mnist

bash "$root/cmake/install_packages.sh" build demo
cd "$root"
cmake --preset release >/dev/null
cmake --build --preset release

./build/release/apps/adbo/adbo clean --corrupt 0.4 --validation-fraction 0.05 --workers 18 --active 9 \
  --train "$data/train-images-idx3-ubyte.gz" --train-labels "$data/train-labels-idx1-ubyte.gz" \
  --test "$data/t10k-images-idx3-ubyte.gz" --test-labels "$data/t10k-labels-idx1-ubyte.gz" \
  --clock virtual --delay lognormal:3.5,1 --iterations "${ADBO_DEMO_ITERATIONS:-1000}" --out "$out"

echo
echo "The results are in $out:"
echo "  summary.json   what was done, and what it is worth"
echo "  suspects.csv   every training row: given and predicted label, weight, score, suspect or not"
echo "  trace.csv      the run's history"
echo "  upper.npy      the learned weights (before the sigmoid)"
echo "  model.npy      the delivered model, features x classes"
