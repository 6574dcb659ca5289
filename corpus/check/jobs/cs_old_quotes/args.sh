#!/bin/sh
test $# -eq 3
