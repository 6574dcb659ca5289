#!/bin/sh
printf "1990 2.1\n1990 2.4\n2000 3.0\n2000 3.3\n" > staged.csv
