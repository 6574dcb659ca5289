#!/bin/bash
set -eu
awk -v m="$1" -v w="$2" -v s="$3" 'BEGIN { print m * w + s }'
