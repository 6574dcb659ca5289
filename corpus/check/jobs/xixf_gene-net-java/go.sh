#!/bin/bash
set -euo pipefail
mkdir -p out/classes
# both classes are in the default package, so the flat folder is fine
javac -d out/classes ./*.java
exec java -Xms256m -Xmx2g -XX:ActiveProcessorCount=2 -cp out/classes Net net.properties "$@"
