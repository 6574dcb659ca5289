#!/bin/tcsh
#SBATCH --job-name=cmaq
#SBATCH --time=04:00:00
#SBATCH --mem=20G
#SBATCH -n 8
setenv BASE /opt/cmaq
set day = 2019001
@ last = $day + 3
while ($day <= $last)
    if (! -d out/$day) mkdir -p out/$day
    srun -n $SLURM_NTASKS $BASE/cctm.exe $day >& out/$day/log
    if ($status != 0) exit 1
    @ day++
end
