#!/bin/sh
echo "part $1"
