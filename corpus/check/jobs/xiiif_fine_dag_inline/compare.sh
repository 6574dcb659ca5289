#!/bin/sh
set -e
paste brest.const dover.const | awk '{ printf "%s %.2f\n", $1, $2 / $5 }'
