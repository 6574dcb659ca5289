#!/bin/sh
echo "matrix $1"
