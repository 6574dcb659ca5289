import math
import random
import sys

# Stochastic gradient descent, no library. Trains a spam filter on generated mails.
random.seed(13)
epochs = int(sys.argv[1])
mails = []
for _ in range(2000):
    spam = random.random() < 0.4
    words = {random.randrange(300) + (150 if spam and random.random() < 0.5 else 0) for _ in range(30)}
    mails.append((sorted(words), 1.0 if spam else 0.0))
weights = [0.0] * 500
bias = 0.0
for epoch in range(epochs):
    loss = 0.0
    for words, label in mails:
        z = bias + sum(weights[w] for w in words)
        p = 1 / (1 + math.exp(-z))
        loss -= math.log(p if label else 1 - p)
        step = 0.05 * (label - p)
        bias += step
        for w in words:
            weights[w] += step
    if epoch % 10 == 0:
        print(epoch, round(loss / len(mails), 5))
