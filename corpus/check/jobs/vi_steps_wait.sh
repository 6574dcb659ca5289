#!/bin/bash
#SBATCH --ntasks=4
#SBATCH --cpus-per-task=2
#SBATCH --mem-per-cpu=1500M
#SBATCH --time=3:00:00
export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK
pids=()
for k in 0.1 0.2 0.3 0.4; do
  srun --exact -N1 -n1 --mem=3000M /opt/bin/model --kappa $k > k_$k.log 2>&1 &
  pids+=($!)
done
fail=0
for p in "${pids[@]}"; do wait "$p" || ((fail++)) || :; done
exit $((fail > 0))
