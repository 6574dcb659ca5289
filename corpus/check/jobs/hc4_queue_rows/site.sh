#!/bin/bash
[ $# -eq 3 ] || exit 2
echo "$1 at $2 $3"
