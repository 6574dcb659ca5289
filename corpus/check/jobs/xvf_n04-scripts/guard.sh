#!/bin/sh
set -eu
case $1 in
  PRE)  echo "$2 try $3" >> guard.log ;;
  POST) [ "$4" -eq 0 ] || exit "$4"; test -s reduced.txt ;;
esac
