#!/bin/sh
# usage: frequent.sh FILE
LC_ALL=C
export LC_ALL
tr -cs '[:alpha:]' '\n' < "$1" | tr '[:upper:]' '[:lower:]' | sort | uniq -c | sort -rn | head -20
