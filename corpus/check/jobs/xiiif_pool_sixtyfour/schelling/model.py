import random


class World:
    def __init__(self, size, tolerance, seed):
        self.rng = random.Random(seed)
        self.size, self.tolerance = size, tolerance
        cells = [1, 2] * (size * size * 9 // 20)
        cells += [0] * (size * size - len(cells))
        self.rng.shuffle(cells)
        self.cells = cells

    def like(self, pos):
        x, y = pos % self.size, pos // self.size
        same = other = 0
        for dx in (-1, 0, 1):
            for dy in (-1, 0, 1):
                if dx or dy:
                    c = self.cells[(y + dy) % self.size * self.size + (x + dx) % self.size]
                    if c == self.cells[pos]:
                        same += 1
                    elif c:
                        other += 1
        return same / (same + other) if same + other else 1.0

    def sweep(self):
        moved = 0
        free = [i for i, c in enumerate(self.cells) if not c]
        for i, c in enumerate(self.cells):
            if c and self.like(i) < self.tolerance:
                k = self.rng.randrange(len(free))
                self.cells[free[k]], self.cells[i] = c, 0
                free[k] = i
                moved += 1
        return moved

    def index(self):
        v = [self.like(i) for i, c in enumerate(self.cells) if c]
        return sum(v) / len(v)
