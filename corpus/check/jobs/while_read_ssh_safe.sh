#!/bin/bash
#SBATCH -t 20
#SBATCH --mem=500M
printf '%s\n' a,1 b,2 c,3 > table.csv
sum=0
while IFS=, read -r name value; do
    sum=$((sum + value))
done < table.csv
echo "$sum"
[[ $sum -eq 6 ]]
