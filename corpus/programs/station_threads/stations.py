"""Weather stations report through a queue; one thread averages what arrives."""
import queue
import random
import sys
import threading
import time

stations, seconds = int(sys.argv[1]), float(sys.argv[2])
inbox = queue.Queue()
stop = threading.Event()


def station(number):
    rng = random.Random(number)
    while not stop.wait(rng.uniform(0.1, 0.4)):
        inbox.put((number, rng.gauss(12, 4)))


def averager(out):
    while (item := inbox.get()) is not None:
        number, value = item
        n, mean = out.get(number, (0, 0.0))
        out[number] = (n + 1, mean + (value - mean) / (n + 1))


means = {}
reader = threading.Thread(target=averager, args=(means,))
reader.start()
senders = [threading.Thread(target=station, args=(k,)) for k in range(stations)]
for s in senders:
    s.start()
time.sleep(seconds)
stop.set()
for s in senders:
    s.join()
inbox.put(None)
reader.join()
for number, (n, mean) in sorted(means.items()):
    print(number, n, round(mean, 2))
