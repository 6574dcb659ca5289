#!/bin/bash
# Waits for N files to be dropped in a folder, one after the other, then packs them.
dir=$1
expected=$2

# stands for the instrument that writes the files
( for ((i = 1; i <= expected; i++)); do sleep 0.45; date > "$dir/run$i.tmp"; mv "$dir/run$i.tmp" "$dir/run$i.dat"; done ) &

seen=0
until (( seen >= expected )); do
    seen=$(find "$dir" -name 'run*.dat' | wc -l)
    echo "$(date +%T) $seen of $expected"
    sleep 1
done
wait
tar -czf batch.tar.gz "$dir"
ls -l batch.tar.gz
