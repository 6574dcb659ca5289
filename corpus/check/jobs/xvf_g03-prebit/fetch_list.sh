#!/bin/sh
grep -v '^#' "$1" > active.txt
