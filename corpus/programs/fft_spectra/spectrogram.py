"""Spectrogram of a long recording, window by window."""
import argparse

import numpy as np


def recording(seconds, rate=16000):
    rng = np.random.default_rng(3)
    t = np.arange(seconds * rate) / rate
    return np.sin(2 * np.pi * (200 + 30 * np.sin(t)) * t) + 0.1 * rng.normal(size=len(t))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--window", type=int, default=1024)
    parser.add_argument("--passes", type=int, default=1)
    o = parser.parse_args()
    signal = recording(o.seconds)
    taper = np.hanning(o.window)
    power = np.zeros(o.window // 2 + 1)
    for _ in range(o.passes):
        for start in range(0, len(signal) - o.window, o.window // 4):
            spectrum = np.fft.rfft(signal[start : start + o.window] * taper)
            power += spectrum.real**2 + spectrum.imag**2
    print("loudest bin", int(power.argmax()))


if __name__ == "__main__":
    main()
