#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=100M
version=$(git describe --always 2>/dev/null || echo unknown)
echo "code version: $version"
host=$(hostname -s 2>/dev/null || uname -n)
logger "job $SLURM_JOB_ID on $host" 2>/dev/null || true
