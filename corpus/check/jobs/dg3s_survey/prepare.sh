#!/bin/sh
echo "prepare $1"
