#!/bin/bash
# starts the raking and waits until the weights are there
set -u
python3 rake.py households.csv margins.json weights.csv > rake.txt 2>&1 &

until [ -e weights.done ]; do
    sleep 30
done

head -n 3 weights.csv
cat rake.txt
