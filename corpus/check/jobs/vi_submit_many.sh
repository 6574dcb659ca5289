#!/usr/bin/env bash
# run by hand on the login node: a small workflow
set -euo pipefail
prep=$(sbatch --parsable --time=30 --mem=2G --wrap 'python3 /opt/wf/prepare.py')
ids=()
for T in 270 280 290; do
  for rep in a b; do
    id=$(sbatch --parsable -J "md_${T}_${rep}" -t 4:00:00 --mem=4G --dependency="afterok:${prep}" \
         --export=ALL,T="$T",REP="$rep" <<'JOB'
#!/bin/bash
echo "T=$T replica $REP on $SLURM_CPUS_ON_NODE cores"
srun ./md -T "$T" -o "out_${T}_${REP}.trj"
JOB
)
    ids+=("${id%%;*}")
  done
done
IFS=:
sbatch --time=10 --mem=1G --dependency="afterany:${ids[*]}" --wrap 'python3 /opt/wf/collect.py out_*.trj'
squeue -u "$USER" -o '%.10i %.9P %.20j %.2t %R' || true
