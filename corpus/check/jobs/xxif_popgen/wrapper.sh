#!/bin/bash
# wrapper around the drift simulation
set -euo pipefail
N=$1
SEED=$2
echo "host $(hostname), population $N, seed $SEED"
source ./params.cfg
./drift.sh "$N" "$SEED" "$GENERATIONS" "$FREQ"
echo "finished"
