#!/bin/sh
ls > collected.txt
