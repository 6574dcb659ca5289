#!/bin/bash
gene=${2:?no gene given}
grep -w "$gene" "$1"
