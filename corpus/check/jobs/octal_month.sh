#!/bin/bash
#SBATCH --time=1:00:00
#SBATCH --mem=1G
set -e
for month in 07 08 09; do
    days_before=$(( (month - 1) * 30 ))
    echo "month $month starts near day $days_before"
done
