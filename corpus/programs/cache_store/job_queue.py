"""A worker: takes jobs from a list until none came for three seconds."""
import sys
import time

import redis

port, jobs = int(sys.argv[1]), int(sys.argv[2])
queue = redis.Redis(port=port, socket_timeout=30)
for n in range(jobs):
    queue.rpush("jobs", n)
done = 0
while (item := queue.blpop("jobs", timeout=3)) is not None:
    time.sleep(0.25)  # the device is slow
    done += int(item[1]) >= 0
print(done, "jobs")
