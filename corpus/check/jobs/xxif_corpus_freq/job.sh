#!/bin/bash
# word frequencies for the diachronic corpus (copied from Anna's 2014 folder)
#SBATCH -J corpus_freq
#SBATCH -p short
#SBATCH -n 1
#SBATCH --mem=2G
#SBATCH -t 30:00
#SBATCH -o freq-%j.log

module purge
module load python/3.11.3

cd $SLURM_SUBMIT_DIR
for decade in 1810 1820; do
    echo "decade $decade"
    python3 count_words.py texts/$decade.txt stopwords.txt > freq_$decade.tsv || exit 1
done
