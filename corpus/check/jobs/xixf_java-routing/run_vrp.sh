#!/bin/bash
# $1 instance, $2 "verbose" or "quiet"
instance=$1
mode=${2:-quiet}

mkdir -p classes
javac -d classes Savings.java || exit 3
java -Xmx1500m -cp classes Savings "$instance" > routes.txt || exit 4

[ "$mode" = verbose ] && cat routes.txt
