#!/bin/bash
echo "$LABEL" $*
