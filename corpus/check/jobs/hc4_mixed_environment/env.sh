#!/bin/bash
set -eu
echo "$SEED" > /dev/null
seq 1 $N
