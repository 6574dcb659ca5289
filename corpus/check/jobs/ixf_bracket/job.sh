#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=100M
set -e
MODE="fast"
if [ "$MODE" == "fast"]; then
    STEPS=10
else
    STEPS=100
fi
test $STEPS -eq 10
