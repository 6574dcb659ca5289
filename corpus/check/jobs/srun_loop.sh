#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks=4
#SBATCH --time=02:00:00
#SBATCH --mem-per-cpu=1G
#SBATCH --partition=main
for t in 300 310 320 330; do
    mkdir -p "T$t"
    srun --exclusive -n 1 -N 1 --output="T$t/%j.log" bash -c "echo T=$t" &
done
wait
ls -d T3*
