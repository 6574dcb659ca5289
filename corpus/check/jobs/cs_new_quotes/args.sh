#!/bin/sh
echo "$@"
test $# -eq 4 && test "$B" = "two words"
