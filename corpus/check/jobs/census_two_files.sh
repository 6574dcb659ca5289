#!/bin/bash
#SBATCH --time=10:00
#SBATCH --mem=1G
seq 1 5 > household.ids
seq 101 105 > income.txt
exec 3< household.ids 4< income.txt
while read -r -u 3 id && read -r -u 4 money; do
    echo "$id,$money"
done > joined.csv
exec 3<&- 4<&-
test "$(wc -l < joined.csv)" -eq 5
