#!/bin/bash
set -eu
case $1 in
    winds) echo 3 > wind_A.txt; echo 8 > wind_B.txt ;;
    sim) w=$(< "wind_$2.txt"); for i in {1..5}; do echo "$((i * w)) $((100 / (i * w)))"; done > "fall_$2.txt" ;;
    map) sort -n fall_?.txt > map.txt ;;
esac
