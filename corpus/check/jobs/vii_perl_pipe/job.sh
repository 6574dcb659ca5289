#!/bin/bash
#SBATCH --time=10 --mem=100M
set -e
perl filter.pl --min 2 < in.tsv > out.tsv
diff <(cut -f1 out.tsv) - <<'E'
b
c
E
