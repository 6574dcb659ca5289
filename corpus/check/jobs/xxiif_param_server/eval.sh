#!/bin/bash
#SBATCH --job-name=evalsrv
#SBATCH --partition=short
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=3
#SBATCH --mem=1G
#SBATCH --time=00:15:00
set -uo pipefail

# the scorer is a little local service; it lives as long as the two clients
PORT=$((20000 + SLURM_JOB_ID % 10000))
python3 scorer.py "$PORT" &
SRV=$!
trap 'kill $SRV 2>/dev/null' EXIT

python3 client.py "$PORT" dev.txt  > dev.scores  & c1=$!
python3 client.py "$PORT" test.txt > test.scores & c2=$!
wait $c1 || exit 1
wait $c2 || exit 1
paste dev.scores test.scores
