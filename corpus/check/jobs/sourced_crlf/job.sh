#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=1G
set -e
. ./env.sh
cd "$DATA"
ls
