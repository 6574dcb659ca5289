#!/bin/bash
# Follow a growing log for a while and count errors as they arrive.
# usage: follow.sh LOG SECONDS
log=$1
seconds=$2
: > "$log"

writer() {
    local end=$((SECONDS + seconds)) n=0
    while (( SECONDS < end )); do
        n=$((n + 1))
        if (( n % 4 == 0 )); then
            echo "$(date +%s) ERROR request $n failed" >> "$log"
        else
            echo "$(date +%s) INFO request $n served" >> "$log"
        fi
        sleep 0.3
    done
    echo EOF >> "$log"
}
writer &

errors=0
while read -r stamp level rest; do
    [[ $stamp == EOF ]] && break
    [[ $level == ERROR ]] && errors=$((errors + 1)) && echo "$stamp $rest"
done < <(tail -n +1 -f --pid=$! "$log")
wait
echo "$errors errors"
