#!/bin/sh
set -eu
[ -r "$1" ]
tr -d ' ' < "$1" | rev > "$2"
