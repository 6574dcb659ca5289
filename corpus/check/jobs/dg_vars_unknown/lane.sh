#!/bin/sh
echo "lane of ${1:?no sample}"
