#!/bin/bash
echo "$1"; cat config.ini
