"""Follow a log that another process writes, and raise an alarm on bursts of errors."""
import subprocess
import sys
import time

seconds = float(sys.argv[1])
writer = subprocess.Popen(
    [sys.executable, "-c",
     "import sys, time\n"
     "with open('live.log', 'w') as f:\n"
     f"    for i in range(int({seconds} * 2)):\n"
     "        f.write('error\\n' if i % 5 == 0 else 'fine\\n'); f.flush(); time.sleep(0.5)\n"])
while True:
    try:
        log = open("live.log")
        break
    except FileNotFoundError:
        time.sleep(0.1)
errors = 0
while True:
    line = log.readline()
    if not line:
        if writer.poll() is not None:
            break
        time.sleep(0.2)
        continue
    if "error" in line:
        errors += 1
print("errors:", errors)
