#!/bin/bash
echo "$1 $2" | awk '{print $1 * $2}'
