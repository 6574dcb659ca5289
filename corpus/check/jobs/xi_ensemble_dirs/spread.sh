#!/bin/bash
paste m0/state.txt m1/state.txt | awk '{ print $2 - $1 }' > spread.txt
exit 1
