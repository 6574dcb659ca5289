#!/bin/bash
#SBATCH --cpus-per-task=4 --time=20
#SBATCH --mem=1G
mkdir -p scans
for i in 1 2 3 4 5 6; do head -c 100 /dev/urandom > "scans/s$i.raw"; done
export QUALITY=9
printf '%s\0' scans/*.raw |
    xargs -0 -n 1 -P "$SLURM_CPUS_PER_TASK" bash -c 'gzip -"$QUALITY" -c "$1" > "${1%.raw}.gz" && rm "$1"' _
compgen -G 'scans/*.gz' > /dev/null
