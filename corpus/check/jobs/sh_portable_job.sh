#!/bin/sh
#SBATCH --time=12
#SBATCH --mem=200M
# dash on the compute nodes
set -eu
total=0
for f in 3 4 5; do total=$((total + f)); done
[ "$total" -eq 12 ] && ok=yes || ok=no
: "${LABEL:=trial}"
name=$(echo "$LABEL" | tr '[:lower:]' '[:upper:]')
printf '%s %s %s\n' "$name" "$ok" "${total#1}"
if command -v module >/dev/null 2>&1; then module list; fi
