#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=100M
( sleep 0.3; echo ready > stage.tmp; mv stage.tmp stage.flag ) &
until [ -f stage.flag ]; do
    sleep 0.1
done
wait
cat stage.flag
