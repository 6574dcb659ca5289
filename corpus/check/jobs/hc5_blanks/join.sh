#!/bin/sh
join -t, left.csv right.csv
