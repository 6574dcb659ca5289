#!/bin/sh
cat lookup_*.out | sort
