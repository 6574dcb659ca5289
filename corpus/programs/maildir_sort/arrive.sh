#!/bin/bash
# mail arrives: one message per delay given
n=0
for delay in "$@"; do
    sleep "$delay"
    n=$((n + 1))
    printf 'From: x@example.org\nSubject: message %d\n\nhello\n' $n > "Mail/new/$n"
done
