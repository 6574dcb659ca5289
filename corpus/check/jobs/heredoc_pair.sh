#!/bin/bash
#SBATCH --time=5 --mem=64M
diff - /dev/fd/4 <<A 4<<'B'
$SLURM_JOB_ID steps
A
4711 steps
B
