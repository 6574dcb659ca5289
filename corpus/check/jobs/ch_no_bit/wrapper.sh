#!/bin/sh
set -e
./step.sh
