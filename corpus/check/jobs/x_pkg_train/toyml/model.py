class Linear:
    def __init__(self, lr):
        self.w, self.b, self.lr = 0.0, 0.0, lr

    def epoch(self, data):
        tot = 0.0
        for x, y in data:
            e = self.w * x + self.b - y
            self.w -= self.lr * e * x
            self.b -= self.lr * e
            tot += e * e
        return tot / len(data)
