"""Finds emission lines by a running median and prints their centroids."""
import statistics
import sys


def read(path):
    wave, flux = [], []
    with open(path) as fh:
        for line in fh:
            if line.startswith("#"):
                continue
            a, b = line.split()
            wave.append(float(a))
            flux.append(float(b))
    return wave, flux


def continuum(flux, half=2):
    out = []
    for i in range(len(flux)):
        lo, hi = max(0, i - half), min(len(flux), i + half + 1)
        out.append(statistics.median(flux[lo:hi]))
    return out


def lines(wave, flux, nsigma=1.5):
    cont = continuum(flux)
    resid = [f - c for f, c in zip(flux, cont)]
    sigma = statistics.pstdev(resid) or 1.0
    for w, r in zip(wave, resid):
        if r > nsigma * sigma:
            yield w, r / sigma
      return


def main():
    wave, flux = read(sys.argv[1])
    for w, snr in lines(wave, flux):
        print(f"{w:.2f} {snr:.1f}")


if __name__ == "__main__":
    main()
