#!/bin/bash
awk '{ n++; if ($2 == "./.") m++ } END { printf "%d sites, %.3f missing\n", n, m / n }' "$1"
