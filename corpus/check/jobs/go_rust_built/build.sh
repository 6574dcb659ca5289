#!/bin/bash
#SBATCH -t 30
#SBATCH --mem=4G
#SBATCH -c 4
set -e
export PATH="$HOME/go/bin:$HOME/.cargo/bin:$PATH"
go build -o fetch fetch.go
cargo build --release -j "$SLURM_CPUS_PER_TASK"
fetch --dry | tally
