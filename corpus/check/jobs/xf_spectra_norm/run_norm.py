import json
import sys

from spec import normalise, find_peaks, read_spectrum

wave, flux = read_spectrum(sys.argv[1])
flux = normalise(flux)
peaks = find_peaks(wave, flux, threshold=0.8)
json.dump(peaks, open(sys.argv[2], "w"))
print(len(peaks), "peaks")
