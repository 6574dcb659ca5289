import random
import sys
from collections import deque

# Deal and gather hands of cards; see how long a sequence of shuffles needs to repeat.
decks = int(sys.argv[1])
rng = random.Random(0)
lengths = []
for d in range(decks):
    order = list(range(52))
    rng.shuffle(order)
    deck = list(range(52))
    count = 0
    while True:
        deck = [deck[k] for k in order]
        count += 1
        if deck == sorted(deck) or count == 2000:
            break
    lengths.append(count)
recent = deque(lengths, maxlen=5)
print(sum(lengths) / decks, list(recent))
