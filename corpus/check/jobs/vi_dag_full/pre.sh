#!/bin/sh
echo "$1 try $2"
