#!/bin/bash
# settle.sh TEMPERATURE: lets the bath settle, then reads it
sleep "0.$((3 + $1 % 4))"
echo "$1 $(( $1 * 97 % 41 ))"
