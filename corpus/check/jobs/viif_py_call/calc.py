def energy(x, k):
    return 0.5 * k * x * x


xs = [0.1, 0.2, 0.3]
print(sum(energy(x) for x in xs))
