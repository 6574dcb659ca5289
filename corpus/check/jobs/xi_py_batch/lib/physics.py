def energy(J, n, *, h=0.0):
    return -J * n - h
