#!/bin/bash
PS3="Which dataset? "
select set in data/*; do
    [ -n "$set" ] || continue
    read -rp "Really delete $set? [y/N] " answer
    [ "$answer" = y ] && rm -r "$set"
done
