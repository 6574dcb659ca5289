#!/bin/bash
#SBATCH --time=30
#SBATCH --mem=500M
set -e
mkdir -p results/{a,b}
echo 1 > results/a/x; echo 2 > results/b/x
(cd results && tar czf ../results.tgz .)
tar tzf results.tgz | grep -q a/x
rm -rf results
