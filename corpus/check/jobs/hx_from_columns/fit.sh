#!/bin/sh
set -u
echo "$1 $2 within $3"
