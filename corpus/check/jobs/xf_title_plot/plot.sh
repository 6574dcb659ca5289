#!/bin/bash
title=untitled n=10
while getopts t:n: o; do
    case $o in t) title=$OPTARG ;; n) n=$OPTARG ;; *) exit 2 ;; esac
done
shift $((OPTIND - 1))
[ $# -eq 1 ] && [ -r "$1" ] || { echo "need one csv, got: $*" >&2; exit 1; }
{
    echo "== $title"
    tail -n +2 "$1" | head -n "$n" | while IFS=, read -r y v; do
        printf '%s %s\n' "$y" "$(printf '%*s' "$v" '' | tr ' ' '#')"
    done
} > fig.txt
