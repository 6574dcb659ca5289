#!/bin/sh
echo "$1 returned $2" > post.done
exit "$2"
