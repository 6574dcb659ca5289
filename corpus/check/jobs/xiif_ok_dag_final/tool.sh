#!/bin/sh
set -e
case $1 in
    upper) tr 'a-z' 'A-Z' < "$2" > "$3" ;;
    md5sum|sha1sum) "$1" "$2" > "$3" ;;
    pack) tar -cf "$3" staged.* ;;
    *) exit 2 ;;
esac
