#!/bin/sh
set -e
printf 'Ra\tNu\n'
cat nu_r1.txt nu_r2.txt nu_r3.txt
