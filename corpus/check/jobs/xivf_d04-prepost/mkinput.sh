#!/bin/sh
seq 1 "$1" > numbers.txt
