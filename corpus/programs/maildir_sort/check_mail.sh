#!/bin/bash
# look for new mail now and then; give up after $1 checks
mkdir -p Mail/new Mail/cur
bash "$(dirname "$0")/arrive.sh" 2 1.5 &
for ((check = 1; check <= $1; check++)); do
    for message in Mail/new/*; do
        [ -e "$message" ] || continue
        grep -m1 '^Subject' "$message"
        mv "$message" "Mail/cur/${message##*/}:2,S"
    done
    sleep 0.9
done
wait
