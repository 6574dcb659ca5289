#!/bin/bash
set -e
sample=$1
echo "host $(hostname) sample $sample"
./step.sh "$sample.txt" > "$sample.qc"
