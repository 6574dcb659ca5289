#!/bin/sh
# POST: file, return value of the job; a good job with an empty file counts as failed
[ "$2" -eq 0 ] || exit "$2"
[ -s "$1" ]
