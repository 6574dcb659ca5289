#!/bin/sh
for a in x y; do for b in 1 2; do echo "$a $b"; done; done
