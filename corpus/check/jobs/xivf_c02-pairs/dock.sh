#!/bin/bash
if [ $# -ne 2 ]; then
  echo "usage: dock.sh LIGAND RECEPTOR" >&2
  exit 2
fi
echo "docking $1 into $2"
echo "$1 $2 $(( (${#1} * 7 + ${#2} * 13) % 10 ))"
