#!/bin/sh
echo "pre $1 $2"
