#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=100M
case "$SLURM_JOB_PARTITION" in
    main) limit=48 ;;
    short) limit=1 ;;
    *) limit=24 ;;
echo "limit $limit h"
