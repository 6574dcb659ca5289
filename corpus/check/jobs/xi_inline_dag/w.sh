#!/bin/sh
seq "$1" > "$2"
