#!/bin/bash
set -e
while [ $# -gt 0 ]; do
  case $1 in
    --geo) geo=$2; shift ;;
    --seed) seed=$2; shift ;;
    --label) label=$2; shift ;;
  esac
  shift
done
grep -q layers "$geo.yaml"
cat tables/a.tab > result.root
echo "$label $seed" >> result.root
