#!/bin/bash
set -eu
. ./conf/merge.conf
sort ${SORT_OPTS:--n} -u "$@"
