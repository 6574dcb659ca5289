#!/bin/bash
set -u
echo "$1 $2 $3"
