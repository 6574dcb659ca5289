#!/bin/sh
set -eu
test -r "$1.dat"
awk -f stock.awk "$1.dat" common.dat
