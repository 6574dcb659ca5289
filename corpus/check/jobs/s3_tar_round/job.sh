#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=200M
set -e
tar -C inputs -czf inputs.tgz .
mkdir -p unpacked/one
tar xzf inputs.tgz -C unpacked/one --strip-components=1
cp -r unpacked copies
rm -r unpacked
cat copies/one/a.txt
