#!/bin/bash
# export the ledger for the auditors
dir=$(cd "$(dirname "$0")"; pwd)
psql -X -q -h 127.0.0.1 -p "$1" -U postgres -d postgres -f "$dir/balances.sql" -o ledger.csv
wc -l ledger.csv
