#!/bin/sh
echo 1,2 > results.csv
