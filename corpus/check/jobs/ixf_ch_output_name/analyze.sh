#!/bin/bash
sort -n "$1" > result.txt
echo done
