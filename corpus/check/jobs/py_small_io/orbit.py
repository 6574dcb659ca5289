x, v = 1.0, 0.0
for step in range(5_000_000):
    v -= 1e-3 * x
    x += 1e-3 * v
    with open("orbit.dat", "a") as stream:
        stream.write(f"{step} {x} {v}\n")
