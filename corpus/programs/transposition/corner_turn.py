"""Turn time-major samples into channel-major ones, as a correlator does."""
import sys

import numpy as np


def main(channels, samples, rounds):
    data = np.arange(channels * samples, dtype=np.float32).reshape(samples, channels)
    check = 0.0
    for _ in range(rounds):
        turned = np.ascontiguousarray(data.T)
        check += float(turned[channels // 2, samples // 3])
        data = np.ascontiguousarray(turned.T)
    print(check)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]))
