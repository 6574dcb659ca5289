#!/bin/bash
set -eu
region=$1; year=$2
echo "$region in $year"
