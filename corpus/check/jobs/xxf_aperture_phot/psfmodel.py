import math


class Moffat:
    def __init__(self, beta, fwhm):
        self.beta = beta
        self.alpha = fwhm / (2 * math.sqrt(2 ** (1 / beta) - 1))

    def encircled(self, r):
        return 1 - (1 + (r / self.alpha) ** 2) ** (1 - self.beta)
