#!/bin/bash
set -e
mkdir logs
echo "$@" | tee logs/args.txt
wc -c geometry.xml ./*.map > hits.dat
