#!/bin/bash
set -eu
seq 1 "$1" > result.txt
echo "$2 written"
