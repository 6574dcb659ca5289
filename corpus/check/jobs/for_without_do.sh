#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=100M
for f in a b c
    touch "$f.done"
done
