#!/bin/sh
echo "step $1 done on $(uname -n)"
