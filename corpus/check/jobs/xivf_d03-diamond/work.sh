#!/bin/sh
echo "part $1 squared $(( $2 * $2 ))"
