#!/bin/sh
paste "$1" "$2"
