#!/bin/bash
# band values per tile, from the two flights
set -e
join <(sort red.txt) <(sort nir.txt) > bands.txt
