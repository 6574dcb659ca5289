#!/bin/sh
echo leaf "$1"
