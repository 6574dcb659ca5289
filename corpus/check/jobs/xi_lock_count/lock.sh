#!/usr/bin/env bash
#SBATCH --job-name=lock
#SBATCH --cpus-per-task=4
#SBATCH --time=5
set -eu
echo 0 > counter
install -m 755 /dev/stdin worker <<'EOF'
#!/bin/bash
exec 9> .lock
flock 9
n=$(< counter)
echo $((n + $1)) > counter
EOF
printf '%s\n' 1 2 3 1 2 3 | xargs -n1 -P"${SLURM_CPUS_PER_TASK:=2}" ./worker
rm -f worker .lock
