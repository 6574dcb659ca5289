#!/bin/sh
#SBATCH -J posix
#SBATCH -t 10
#SBATCH --mem=100
i=0
while [ "$i" -lt 3 ]; do
    i=$((i + 1))
    case $i in
        1|3) echo odd ;;
        *) echo even ;;
    esac
done
[ "$i" -eq 3 ] || exit 1
