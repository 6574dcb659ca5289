#!/bin/bash
#SBATCH --mem=100M
#SBATCH --time=0:10:00
#SBATCH --chdir=.
for d in run_*/; do
  ( cd "$d" && cp ../base.inp . && sort base.inp > sorted.out ) || exit 1
done
pushd run_a > /dev/null
test -s sorted.out
popd > /dev/null
ln -sfn run_b latest
wc -l latest/sorted.out run_{a,b}/sorted.out
