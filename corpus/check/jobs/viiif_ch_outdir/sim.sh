#!/bin/sh
echo "seed $1"
