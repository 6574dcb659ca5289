#!/bin/sh
echo "$1 is done"
