#!/bin/bash
set -e
seq 1 "$1" | awk '{ print $1, sin($1) }' > spectra.dat
