#!/bin/sh
test -s "$1"
