#!/bin/bash
set -e
{
  for i in 1 2 3; do echo "JOB n$i gen.sub"; done
  echo "PARENT n1 n2 CHILD n3"
} > inner.dag
