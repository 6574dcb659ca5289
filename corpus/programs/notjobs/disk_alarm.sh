#!/bin/bash
limit=${1:-90}
while true; do
    used=$(df --output=pcent / | tail -n 1 | tr -dc 0-9)
    if [ "$used" -ge "$limit" ]; then
        logger -t disk "root file system is at $used %"
    fi
    sleep 60
done
