import sys


def deriv(t, y):
    r3 = (y[0] ** 2 + y[1] ** 2) ** 1.5
    return [y[2], y[3], -y[0] / r3, -y[1] / r3]


def axpy(y, k, h):
    return [a + h * b for a, b in zip(y, k)]


def rk4_step(f, t, y, h):
    k1 = f(t, y)
    k2 = f(t + h / 2, axpy(y, k1, h / 2))
    k3 = f(t + h / 2, axpy(y, k2, h / 2))
    k4 = f(t + h, axpy(y, k3, h))
    return [a + h / 6 * (p + 2 * q + 2 * r + s) for a, p, q, r, s in zip(y, k1, k2, k3, k4)]


ecc = float(sys.argv[1])
y = [1 - ecc, 0.0, 0.0, ((1 + ecc) / (1 - ecc)) ** 0.5]
h = 0.01
for step in range(628):
    y = rk4_step(deriv, y, h)
print("%.2f %.5f %.5f" % (ecc, y[0], y[1]))
