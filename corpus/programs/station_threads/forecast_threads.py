import queue
import sys
import threading
import time


def logistic(r, rounds=60_000):
    x = 0.5
    for _ in range(rounds):
        x = r * x * (1 - x)
    return x


def worker(tasks, results):
    while True:
        try:
            r = tasks.get(timeout=1)
        except queue.Empty:
            return
        results.append((r, logistic(r)))
        time.sleep(0)
        tasks.task_done()


threads, rows = int(sys.argv[1]), int(sys.argv[2])
tasks, results = queue.Queue(), []
for k in range(threads * rows * 8):
    tasks.put(3.0 + k / (threads * rows * 8))
pool = [threading.Thread(target=worker, args=(tasks, results), daemon=True) for _ in range(threads)]
for thread in pool:
    thread.start()
tasks.join()
print(len(results), min(results)[1], max(results)[1])
