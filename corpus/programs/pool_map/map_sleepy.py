"""Ask many (pretended) devices for their state, a few at a time."""
import sys
import time
from concurrent.futures import ProcessPoolExecutor


def state(device):
    time.sleep(0.3 + device % 5 / 10)
    return device, "ok" if device % 7 else "offline"


def main():
    workers, devices = int(sys.argv[1]), int(sys.argv[2])
    with ProcessPoolExecutor(workers) as pool:
        found = dict(pool.map(state, range(devices)))
    print([d for d, s in found.items() if s != "ok"])


if __name__ == "__main__":
    main()
