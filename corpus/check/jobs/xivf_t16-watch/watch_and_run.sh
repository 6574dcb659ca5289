#!/bin/bash
#SBATCH --job-name=watcher
#SBATCH --ntasks=1
#SBATCH --mem=1G
#SBATCH --time=5-00:00:00

mkdir -p done
while true
do
  for f in *.todo
  do
    [ -e "$f" ] || continue
    wc -l "$f" >> totals.txt
    mv "$f" done/
  done
  sleep 2
done
