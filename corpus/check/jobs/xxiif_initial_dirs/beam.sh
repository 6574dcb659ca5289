#!/bin/bash
# bending moment of a simply supported beam
set -eu
awk -f beam.awk load.txt
