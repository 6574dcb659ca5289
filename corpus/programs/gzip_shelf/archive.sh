#!/bin/bash
# archive.sh FILE COPIES: pack dated copies of a file for the tape robot
set -e
mkdir -p tape
for n in $(seq "$2"); do
    perl "$(dirname "$0")/redate.pl" "$n" "$1" | gzip -9 > "tape/$1.$n.gz"
    gzip -t "tape/$1.$n.gz"
    ls -l "tape/$1.$n.gz" | awk '{ print $NF, $5 }'
done
sync
