#!/bin/sh
echo "run $1"
