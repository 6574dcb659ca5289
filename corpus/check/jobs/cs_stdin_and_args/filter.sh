#!/bin/sh
head "$1" "$2"
