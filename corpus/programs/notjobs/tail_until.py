import sys
import time

path, deadline = sys.argv[1], time.monotonic() + 600
with open(path) as log:
    while True:
        line = log.readline()
        if line.startswith("FINISHED") or time.monotonic() > deadline:
            break
        if not line:
            time.sleep(0.5)
            continue
        print(line, end="")
