#!/bin/sh
[ "$TITLE" = "two words" ] || exit 4
echo "$TITLE / $QUOTE / ${EMPTY:-nothing}"
