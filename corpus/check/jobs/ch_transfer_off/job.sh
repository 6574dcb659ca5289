#!/bin/sh
cat data.txt
