#!/bin/bash
#SBATCH --job-name=catalog
#SBATCH --time=30 --mem=500M
for year in 2019 2020; do
    for month in 01 02 03; do
        echo "$year-$month" >> months.txt
done
sort months.txt
