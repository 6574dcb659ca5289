#!/bin/bash
#SBATCH --job-name=clean_survey
#SBATCH --time=15:00
#SBATCH --mem=1G
#SBATCH --output=clean.out

mkdir -p clean reports

for wave in wave1 wave2 wave3; do
    perl validate.pl raw/$wave.csv | tee reports/$wave.txt
    if [ $? -ne 0 ]; then
        echo "$wave did not pass, keeping raw file" >&2
        continue
    fi
    cut -d, -f1,3- raw/$wave.csv > clean/$wave.csv
    rm raw/$wave.csv
done
ls -l clean
