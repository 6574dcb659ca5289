#!/bin/bash
set -e
case "$1" in
    regrid) awk '{print int($1/2)*2, $2}' t2m.txt | sort -n ;;
    anom)   awk '{s+=$2; v[NR]=$2} END {for (i=1;i<=NR;i++) print i, v[i]-s/NR}' t2m.txt ;;
    eof)    awk '{q+=$2*$2} END {print "var", q/NR}' t2m.txt ;;
    index)  awk 'NR==1 || $2>m {m=$2; d=$1} END {print d, m}' t2m.txt ;;
    *)      echo "unknown step $1" >&2; exit 2 ;;
esac
