#!/bin/sh
test "$1" = '#ff8800' && echo "$2"
