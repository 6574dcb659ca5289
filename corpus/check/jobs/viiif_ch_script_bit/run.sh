#!/usr/bin/bahs
for i in $(seq "$1"); do echo "$i"; done
