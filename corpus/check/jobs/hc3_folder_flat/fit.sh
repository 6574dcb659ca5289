#!/bin/sh
set -e
cat config/fit.yaml
