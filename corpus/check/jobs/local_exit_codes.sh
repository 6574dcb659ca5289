#!/bin/bash
#SBATCH -t 10
#SBATCH --mem=100M
set -e
diff <(echo a) <(echo b) > changes.txt || [ $? -eq 1 ]
grep x changes.txt || :
expr 1 - 1 > zero.txt || true
cat zero.txt
