#!/bin/bash
# log one reading per second
here=$(dirname "$0")
for n in $(seq 1 "$1"); do
    python3 "$here/read_sensor.py" "$n" >> readings.log
    sleep 1
done
tail -n 2 readings.log
