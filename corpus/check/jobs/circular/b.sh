#!/bin/bash
echo b >> calls.txt
bash a.sh
