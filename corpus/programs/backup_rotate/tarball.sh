#!/bin/bash
set -e
cd "$(pwd)"
for generation in $(seq "$2"); do
    old=$((generation - 1))
    tar -cf - "$1" | xz -6 > "backup.$generation.tar.xz"
    xz -dc "backup.$generation.tar.xz" | tar -tf - | wc -l
    if [ -e "backup.$old.tar.xz" ]; then rm "backup.$old.tar.xz"; fi
done
