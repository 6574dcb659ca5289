#!/bin/bash
for i in $(seq 1 "$1"); do
  echo "run $i: $((RANDOM % 100 + i))"
done
