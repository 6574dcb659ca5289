import multiprocessing
import sys
import time


def warm_up(ready, seconds):
    """The laser needs some time."""
    time.sleep(seconds)
    ready.set()


if __name__ == "__main__":
    ready = multiprocessing.Event()
    laser = multiprocessing.Process(target=warm_up, args=(ready, float(sys.argv[1])))
    laser.start()
    while not ready.wait(timeout=0.25):
        print(".", end="", flush=True)
    laser.join()
    samples = [sum(x * x for x in range(k)) for k in range(300)]
    print("\nready,", len(samples), "samples")
