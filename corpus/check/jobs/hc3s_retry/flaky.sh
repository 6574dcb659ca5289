#!/bin/sh
# fails where the archive is away
test -d / || exit 3
echo done
