#!/bin/sh
echo "$1" > "result_$1.dat"
