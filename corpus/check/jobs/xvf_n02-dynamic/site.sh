#!/bin/sh
echo "site ${1:?}"
