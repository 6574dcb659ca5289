#!/bin/sh
echo "hello from job $1 on $(uname -n)"
