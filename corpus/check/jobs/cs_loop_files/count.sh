#!/bin/sh
wc -l < "$1.txt"
