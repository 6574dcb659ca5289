#!/bin/bash
for d in "$@"; do cat "$d/b.txt"; done > all.txt
