import math
import sys


class Body:
    def __init__(self, mass, x, y, vx, vy):
        self.mass, self.x, self.y, self.vx, self.vy = mass, x, y, vx, vy


def advance(bodies, dt):
    for i, a in enumerate(bodies):
        for b in bodies[i + 1:]:
            dx, dy = a.x - b.x, a.y - b.y
            d2 = dx * dx + dy * dy + 1e-6
            f = dt / (d2 * math.sqrt(d2))
            a.vx -= dx * b.mass * f
            a.vy -= dy * b.mass * f
            b.vx += dx * a.mass * f
            b.vy += dy * a.mass * f
    for body in bodies:
        body.x += dt * body.vx
        body.y += dt * body.vy


def energy(bodies):
    return sum(b.mass * (b.vx**2 + b.vy**2) / 2 for b in bodies)


bodies = [Body(1.0, 0, 0, 0, 0)]
for k in range(1, 9):
    bodies.append(Body(1e-3 / k, k, 0, 0, 1 / math.sqrt(k)))
steps = int(sys.argv[1])
with open("trajectory.csv", "w") as out:
    for step in range(steps):
        advance(bodies, 0.001)
        if step % 100 == 0:
            print(step, *(f"{b.x:.5f},{b.y:.5f}" for b in bodies), sep=",", file=out)
print(energy(bodies))
