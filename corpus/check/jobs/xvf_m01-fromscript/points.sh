#!/bin/sh
for i in $(seq 1 "$1"); do
  for j in $(seq 1 "$1"); do
    echo "$i $j"
  done
done
