#!/bin/bash
set -e
tar xzf tools.tar.gz
export PATH=$PWD/tools/bin:$PATH
crunch "$1" > out_$2.txt
