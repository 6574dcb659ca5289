#!/bin/bash
awk '$2 > 0.5' "$1" > result.dat
wc -l < result.dat
