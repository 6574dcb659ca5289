#!/bin/bash
cut -d, -f2 "$1" | tail -n +2 | sort | uniq -c
