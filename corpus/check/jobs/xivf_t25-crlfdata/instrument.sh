#!/bin/bash
#SBATCH --job-name=instr
#SBATCH --ntasks=1
#SBATCH --mem=1G
#SBATCH --time=10

tr -d '\r' < export.csv > clean.csv
while IFS=, read -r id val
do
  [ "$id" = id ] && continue
  echo $((val * 2)) > "double_$id.txt"
done < clean.csv
ls double_*.txt | wc -l
