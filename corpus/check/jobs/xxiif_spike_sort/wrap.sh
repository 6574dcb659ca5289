#!/bin/bash
set -e
ch=$1
echo "host $(hostname), channel $ch"
n=$(wc -l < "ch$ch.txt")
echo "samples: $n"
./detect.pl "ch$ch.txt" 3.5 > "ch${ch}_spikes.txt"
wc -l "ch${ch}_spikes.txt"
