#!/bin/bash
set -eu
test -s base.txt
test -s tables/t1.txt
[ "$2" != run ]
echo "$1 $2"
