#!/usr/bin/env bash
#SBATCH -J sweep
#SBATCH -n 1
#SBATCH -t 5
#SBATCH --mem=200M
seed=1 steps=10
while getopts ":s:n:h" opt; do
    case $opt in
        s) seed=$OPTARG ;;
        n) steps=$OPTARG ;;
        h) echo "usage: $0 [-s seed] [-n steps]"; exit 0 ;;
        *) echo "unknown option -$OPTARG" >&2; exit 2 ;;
    esac
done
shift $((OPTIND - 1))
RANDOM=$seed
total=0
for ((i = 0; i < steps; i++)); do total=$((total + RANDOM % 6 + 1)); done
echo "sum of $steps dice: $total"
