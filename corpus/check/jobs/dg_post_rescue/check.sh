#!/bin/sh
[ "$1" -eq 3 ] && echo "$2 forgiven"
