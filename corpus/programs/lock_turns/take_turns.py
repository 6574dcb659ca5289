"""Several writers append to one file, each holding the lock while it "thinks"."""
import fcntl
import os
import sys
import time


def writer(number, turns):
    for turn in range(turns):
        with open("shared.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with open("shared.txt", "a") as out:
                out.write(f"writer {number} turn {turn}\n")
            time.sleep(0.25)


writers, turns = map(int, sys.argv[1:])
children = []
for k in range(writers):
    pid = os.fork()
    if pid == 0:
        writer(k, turns)
        os._exit(0)
    children.append(pid)
for pid in children:
    os.waitpid(pid, 0)
print(sum(1 for _ in open("shared.txt")), "lines")
