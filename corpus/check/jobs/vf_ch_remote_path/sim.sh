#!/bin/bash
set -e
grep -c '=' "$1"
