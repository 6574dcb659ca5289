#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=100M
( sleep 0.3; touch ready ) &
until [ -e ready ]; do
    sleep 0.1
done
wait
echo go
