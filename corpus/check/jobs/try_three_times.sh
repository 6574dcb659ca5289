#!/bin/bash
#SBATCH --time=30 --mem=512M
# the licence server is shy: three attempts
attempt=0
until (( ++attempt >= 3 )) || false; do
    echo "attempt $attempt" >&2
    sleep 0.1
done
flaky() { [ "$attempt" -ge 3 ]; }
if flaky; then echo "licence taken"; else echo "no licence" >&2; exit 75; fi
