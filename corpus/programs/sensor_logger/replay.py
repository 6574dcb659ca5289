"""Replays a recorded log as fast as possible through the alarm filter."""
import sys
import time
from collections import deque

SPEED = 0  # 1: in real time

path, rounds = sys.argv[1], int(sys.argv[2])
alarms = 0
for window in range(5, 5 + rounds):
    recent, last = deque(maxlen=window), 0.0
    with open(path) as log:
        for line in log:
            at, value = map(float, line.split(","))
            if SPEED:
                time.sleep((at - last) * SPEED)
            last = at
            recent.append(value)
            middle = sorted(recent)[len(recent) // 2]
            if abs(value - middle) > 0.55:
                alarms += 1
    print("window", window, "alarms so far", alarms)
