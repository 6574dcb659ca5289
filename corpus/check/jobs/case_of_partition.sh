#!/bin/bash
#SBATCH --job-name=switch
#SBATCH --time=00:10:00
#SBATCH --mem=500M
set -euo pipefail

case ${SLURM_JOB_PARTITION:-main} in
    gpu*)        device=cuda ;;
    main|short)  device=cpu ;;
    *)           echo "unexpected partition" >&2; exit 1 ;;
esac
declare -A workers=([cpu]=4 [cuda]=1)
echo "device $device, ${workers[$device]} workers"
