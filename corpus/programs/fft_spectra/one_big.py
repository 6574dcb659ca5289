import sys
import numpy as np
from scipy import fft

n = 1 << int(sys.argv[1])
field = np.zeros(n, dtype=complex)
field[: n // 3] = 1
k = fft.fftfreq(n)
# split-step propagation: half in space, half in the spectrum
for step in range(int(sys.argv[2])):
    field = fft.ifft(fft.fft(field, overwrite_x=True) * np.exp(-1j * k * k), overwrite_x=True)
    field *= np.exp(1j * np.abs(field) ** 2)
print(np.abs(field).max())
