#!/bin/sh
echo "before $1"
