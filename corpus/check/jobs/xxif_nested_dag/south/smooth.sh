#!/bin/sh
awk "{ s += \$1; print s / NR }" "$1" > "$2"
