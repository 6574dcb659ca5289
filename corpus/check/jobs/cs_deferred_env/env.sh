#!/bin/sh
test "$OMP_NUM_THREADS" = 4
