#!/bin/sh
arch=${1:?arch} reps=${2:?reps} out=${3:?out}
i=0
: > "$out"
while [ "$i" -lt "$reps" ]; do
    i=$((i + 1))
    echo "$i $arch" >> "$out"
done
