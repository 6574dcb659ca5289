#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=100M
for ((;;)); do
    ((++tries >= 3)) && break
done
echo $tries
while :; do break; done
