#!/bin/bash
#SBATCH --job-name=webtest
#SBATCH --ntasks=1
#SBATCH --time=15
#SBATCH --mem=500M
mkdir -p site && echo hello > site/index.html
port=$((20000 + SLURM_JOB_ID % 10000))
( cd site && exec python3 -m http.server --bind 127.0.0.1 $port ) > server.log 2>&1 &
server=$!
trap 'kill $server' EXIT
sleep 0.2
kill -0 $server && echo "server is up on $port"
