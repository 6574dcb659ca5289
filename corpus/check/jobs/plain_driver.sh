#!/bin/bash
# run by hand on the login node: ./plain_driver.sh [-n] – shows (or submits) one job per lens
dry=${1:-}
[ "$dry" = -n ] && run=echo || run=
for lens in L1 L2; do
    $run sbatch --time=30 --mem=1G --job-name="ray_$lens" --wrap="echo $lens"
done
