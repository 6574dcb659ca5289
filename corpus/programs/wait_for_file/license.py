"""Run a simulation when a licence is free. There are few, and they are held by other people's jobs."""
import contextlib
import os
import sys
import threading
import time

import numpy as np


@contextlib.contextmanager
def licence(folder, count, patience=30.0):
    deadline = time.monotonic() + patience
    while True:
        for k in range(count):
            path = os.path.join(folder, f"seat{k}")
            try:
                os.close(os.open(path, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                continue
            try:
                yield k
            finally:
                os.unlink(path)
            return
        if time.monotonic() > deadline:
            raise TimeoutError("no licence")
        time.sleep(0.5)


def colleague(folder, seconds):
    path = os.path.join(folder, "seat0")
    open(path, "w").close()
    time.sleep(seconds)
    os.unlink(path)


def simulate():
    state = np.ones(200)
    for _ in range(2000):
        state = np.roll(state, 1) * 0.5 + state * 0.5
    return state.sum()


os.makedirs("seats", exist_ok=True)
threading.Thread(target=colleague, args=("seats", float(sys.argv[1]))).start()
time.sleep(0.1)
with licence("seats", 1) as seat:
    print(seat, simulate())
