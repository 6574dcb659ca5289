#!/bin/bash
grep -q '^mean' "$1"
