#!/bin/sh
# temperature in the last thermo line
awk '$1 ~ /^[0-9]+$/ && NF == 3 { t = $2 } END { if (t == "") exit 1; print "final T*", t }' "$1"
