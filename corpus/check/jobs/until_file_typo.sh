#!/bin/bash
#SBATCH --time=1:00:00
#SBATCH --mem=1G
( sleep 0.2; touch ready.flag ) &
until [ -e ready.flags ]; do
    sleep 0.1
done
wait
echo "worker is up"
