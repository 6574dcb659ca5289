#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=100M
usage() { echo "usage: sbatch $(basename "$0") [-n N] [-o FILE]" >&2; exit 2; }
n=5 out=squares.txt
while getopts ":n:o:h" opt; do
    case $opt in
        n) n=$OPTARG ;;
        o) out=$OPTARG ;;
        h|\?|:) usage ;;
    esac
done
shift $((OPTIND - 1))
[ $# -eq 0 ] || usage
for ((k = 1; k <= n; k++)); do echo $((k * k)); done > "$out"
test -s "$out" && echo "wrote $out"
