#!/bin/bash
for ((i = 0; i < $1; i++)); do
    echo "reading $i"
    sleep 0.5
done
