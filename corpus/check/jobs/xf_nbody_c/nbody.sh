#!/bin/bash
#SBATCH --job-name=nbody
#SBATCH --ntasks=1
#SBATCH --time=00:30:00
#SBATCH --mem=1G

set -e
SRC=src/nbody.c
EXE=./nbody

if [ ! -x $EXE ] || [ $SRC -nt $EXE ]; then
    gcc -std=c99 -O2 -Wall $SRC -o $EXE
fi

srun $EXE bodies.txt 200 0.01 > traj.txt
tail -n 1 traj.txt
