def read_spectrum(path):
    wave, flux = [], []
    with open(path) as fh:
        for line in fh:
            if line.startswith("#") or not line.strip():
                continue
            w, f = line.split()
            wave.append(float(w))
            flux.append(float(f))
    return wave, flux


def normalise(flux):
    top = max(flux)
    base = min(flux)
    if top == base:
        raise ValueError("flat spectrum")
    scaled = [(f - base) / (top - base) for f in flux]


def find_peaks(wave, flux, threshold):
    out = []
    for i in range(1, len(flux) - 1):
        if flux[i] >= threshold and flux[i - 1] < flux[i] >= flux[i + 1]:
            out.append(wave[i])
    return out
