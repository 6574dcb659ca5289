#!/bin/bash
set -e
for i in 1 2 3; do
  echo "$i"
  sleep 1
echo end
