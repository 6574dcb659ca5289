#!/bin/bash
# run the solver in the background, wait for its output
dir=$(dirname "$0")
rm -f solver.out
python3 "$dir/solver.py" "$1" &
pid=$!
while kill -0 $pid 2>/dev/null; do
    sleep 0.3
done
wait $pid
cat solver.out
