#!/bin/bash
# fetch items one by one without annoying the server
base=$1
for ((i = 0; i < $2; i++)); do
    curl --silent --fail --retry 3 "$base/item/$i" -o "item$i.json" || echo "item $i failed" >&2
    sleep 0.6
done
python3 "$(dirname "$0")/count_names.py" item*.json
