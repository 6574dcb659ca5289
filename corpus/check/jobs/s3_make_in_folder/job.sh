#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=400M
set -e
mkdir -p build
(cd build && make -f ../src/rules.mk SRC=../src)
build/tool
