#!/bin/bash
# subscribe to the ticker for a few ticks
exec 3<>"/dev/tcp/$1/$2" || exit 1
echo "TICK $3" >&3
for ((i = 0; i < $3; i++)); do
    read -r -t 10 tick <&3 || break
    printf '%s tick %s\n' "$(date +%T)" "$tick"
done
exec 3>&-
