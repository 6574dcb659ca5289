#!/bin/bash
#SBATCH -n 1 -c 12 --mem=24G -t 4:00:00
export OMP_NUM_THREADS=1
mkdir -p log res
scan() {
  local t=$1 seed=$2
  ./scan.x -T "$t" -s "$seed" > "res/${t}_${seed}.dat"
}
export -f scan
parallel -j "$SLURM_CPUS_PER_TASK" --joblog log/"$SLURM_JOB_ID".txt --resume --delay 0.2 \
  scan {1} {2} ::: $(seq 0.5 0.1 2.5) ::: {1..10}
parallel --colsep '\t' -a <(printf 'a\t1\nb\t2\n') echo {1}-{2} {#} {%}
find res -name '*.dat' -print0 | parallel -0 -X gzip -f
