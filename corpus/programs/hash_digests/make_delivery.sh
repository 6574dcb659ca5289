#!/bin/bash
# make_delivery.sh PARTS MB
mkdir -p delivery
for i in $(seq 1 "$1"); do
    head -c "$2"M /dev/urandom > "delivery/part$i"
done
(cd delivery && sha512sum part* > ../parts.sha512)
