#!/bin/sh
cat local.txt common.txt > joined.txt
