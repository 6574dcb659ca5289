#!/bin/bash
echo "depth $1"
