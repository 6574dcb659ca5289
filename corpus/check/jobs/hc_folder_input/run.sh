#!/bin/bash
set -e
source model/constants.sh
echo $(( G * $(cat lookup.txt) )) > sums.txt
mkdir tables && cp sums.txt tables/
