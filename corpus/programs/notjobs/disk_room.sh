#!/bin/bash
# go on once there is room for the results
need=${1:-10}
waited=0
while :; do
    free=$(df --output=avail -BG . | tail -n 1 | tr -dc 0-9)
    [ "$free" -ge "$need" ] && exit 0
    waited=$((waited + 1))
    [ "$waited" -gt 60 ] && { echo "no room" >&2; exit 1; }
    sleep 60
done
