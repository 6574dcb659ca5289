#!/bin/sh
awk '{ s += $1 } END { print s }' "$1"
