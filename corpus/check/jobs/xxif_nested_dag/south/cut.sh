#!/bin/sh
head -n 3 "$1" > "$2"
