#!/bin/bash
set -euo pipefail
species=$1
echo "model for $species"
awk -F, -v sp="$species" -f sdm.awk presence.csv
