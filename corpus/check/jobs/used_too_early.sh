#!/bin/bash
#SBATCH --job-name=early
#SBATCH --time=5
#SBATCH --mem=200M
set -e

note "start"
seq 1 5 > five.txt

note() {
    echo "$(date +%T) $*"
}
note "end"
