#!/bin/tcsh -f
#SBATCH --job-name=siesta
#SBATCH --ntasks=8
#SBATCH --mem=16G
#SBATCH --time=06:00:00
set echo
setenv OMP_NUM_THREADS 1
set base = `basename $SLURM_SUBMIT_DIR`
if (! -d scratch) mkdir scratch
foreach a (3.9 4.0 4.1)
    sed "s/@A@/$a/" template.fdf >! run_$a.fdf
    srun -n $SLURM_NTASKS siesta < run_$a.fdf >& out_$a.log
    if ($status != 0) then
        echo "$a failed"
        exit 1
    endif
end
@ n = 3 * 2
echo $base $n
