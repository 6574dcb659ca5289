#!/usr/bin/env bash
# $1 clients take the lock in turns, $2 times each
clients=$1 rounds=$2
worker() {
    for ((r = 0; r < rounds; r++)); do
        (
            flock -x 9
            read -r n < counter
            sleep 0.2
            echo $((n + 1)) > counter
        ) 9> counter.lock
    done
}
echo 0 > counter
for ((c = 0; c < clients; c++)); do worker & done
wait
echo "counter is $(cat counter), should be $((clients * rounds))"
