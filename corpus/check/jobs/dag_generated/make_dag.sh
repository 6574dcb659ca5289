#!/bin/bash
# run on the access point: writes a DAG, hands it over where DAGMan is
set -eu
{
    for i in 1 2 3; do
        echo "JOB n$i node.sub"
        echo "VARS n$i i=\"$i\""
    done
    echo "PARENT n1 CHILD n2 n3"
} > gen.dag
grep -c JOB gen.dag
if command -v condor_submit_dag > /dev/null; then
    condor_submit_dag -no_submit -f gen.dag > /dev/null
fi
