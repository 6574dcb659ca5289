#!/bin/bash
#SBATCH -n 1 -c 4
#SBATCH --time=20
#SBATCH --mem=1G
work() {
    sleep 1
    seq "$1" | tail -1 > part_$1.txt
}
for i in 10 20 30 40; do
    work $i &
done
cat part_*.txt > all.txt
[ "$(wc -l < all.txt)" -eq 4 ]
