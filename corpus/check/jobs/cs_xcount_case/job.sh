#!/bin/sh
test "$1" = a
