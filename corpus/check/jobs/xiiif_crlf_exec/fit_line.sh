#!/bin/bash
set -e
exposure=$1
centre=$2
python3 gauss.py "$exposure.dat" "$centre"
