#!/bin/sh
test $# -eq 2
