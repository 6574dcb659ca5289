"""A pool of threads that serves requests; they come rarely."""
import queue
import sys
import threading
import time

requests = queue.Queue()
results = []


def serve():
    while True:
        job = requests.get()
        if job is None:
            return
        results.append(sum(i * i for i in range(job)))
        requests.task_done()


def main():
    workers = [threading.Thread(target=serve) for _ in range(8)]
    for w in workers:
        w.start()
    for k in range(int(sys.argv[1])):
        requests.put(2000 + k)
        time.sleep(0.25)
    for _ in workers:
        requests.put(None)
    for w in workers:
        w.join()
    print(len(results))


main()
