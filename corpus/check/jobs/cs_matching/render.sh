#!/bin/sh
wc -c < "$1"
