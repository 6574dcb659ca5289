#!/bin/sh
# keep the tunnel to the login node open
host=${1:-login.cluster.example.org}
forever=1
while [ $forever -eq 1 ]; do
    until ssh -N -o ExitOnForwardFailure=yes -L 8888:localhost:8888 "$host"; do
        sleep 5
    done
done
