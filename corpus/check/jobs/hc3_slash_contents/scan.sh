#!/bin/sh
set -e
wc -l frames/f1.txt
