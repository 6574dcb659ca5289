#!/bin/bash
# Start the instrument, then wait for its "done" file.
seconds=$1
rm -f done.flag
( sleep "$seconds"; touch done.flag ) &
tries=0
until [ -e done.flag ]; do
    tries=$((tries + 1))
    if [ $tries -gt 600 ]; then
        echo "gave up" >&2
        exit 1
    fi
    sleep 0.5
done
echo "done after $tries looks"
