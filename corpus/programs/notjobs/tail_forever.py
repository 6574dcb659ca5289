import sys
import time

with open(sys.argv[1]) as log:
    log.seek(0, 2)
    while True:
        line = log.readline()
        if not line:
            time.sleep(0.5)
            continue
        if "ERROR" in line:
            print(line, end="", flush=True)
