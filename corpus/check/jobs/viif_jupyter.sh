#!/bin/bash
#SBATCH --time=8:00:00 --mem=8G
module load anaconda3/2023.09
port=$((8000 + RANDOM % 1000))
echo "ssh -L $port:$(hostname):$port login"
jupyter lab --no-browser --ip=0.0.0.0 --port=$port
