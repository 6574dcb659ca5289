#!/bin/bash
#SBATCH --time=20 --mem=100M
( sleep 0.3; echo ready > flag.txt ) &
tries=0
until [ -s flag.txt ]; do
  tries=$((tries + 1))
  if [ $tries -gt 100 ]; then echo "gave up" >&2; exit 1; fi
  sleep 0.1
done
while :; do
  read -r word < flag.txt
  [ "$word" = ready ] && break
  sleep 1
done
wait
echo "after $tries tries"
