#!/bin/bash
# sets the energy and starts the shower
energy=$1
if [ "$energy" -gt 10 ]; then
    model=high
else
    model=low
echo "$model"
