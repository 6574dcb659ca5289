#!/bin/bash
# submit all seeds from the login node
for seed in $(seq 1 5000); do
    sbatch -t 5 --mem=1G --wrap "echo $seed"
done
