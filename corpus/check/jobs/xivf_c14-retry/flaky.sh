#!/bin/bash
# the licence server hands out few tokens; simulated by the clock
if [ $(( $(date +%s) % 4 )) -eq 0 ]; then
  echo "no licence token" >&2
  exit 3
fi
grep -c '^node' "$1"
