#!/bin/bash
echo "worker $1 ($2)"
