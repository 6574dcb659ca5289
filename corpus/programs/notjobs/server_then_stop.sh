#!/bin/bash
# throughput of the static file server
python3 -m http.server 8123 --bind 127.0.0.1 > /dev/null 2>&1 &
server=$!
trap 'kill "$server"' EXIT
sleep 1
head -c 200M /dev/zero > blob
for i in 1 2 3 4 5; do
    curl -s -o /dev/null -w '%{speed_download}\n' http://127.0.0.1:8123/blob
done
rm blob
