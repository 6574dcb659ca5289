#!/bin/bash
# Twin primes by trial division. Slow, but the shell is all there is on the router.
limit=$1
previous=3
twins=0
for ((n = 5; n <= limit; n += 2)); do
    prime=1
    for ((d = 3; d * d <= n; d += 2)); do
        if ((n % d == 0)); then
            prime=0
            break
        fi
    done
    if ((prime)); then
        ((n - previous == 2)) && ((twins++))
        previous=$n
    fi
done
echo "$twins pairs"
