"""Train a character model on a text from the web. The text is small, the training is not."""
import random
import sys
from collections import Counter, defaultdict

import requests

url, order, letters = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
text = requests.get(url, timeout=30).text
model = defaultdict(Counter)
for i in range(len(text) - order):
    model[text[i : i + order]][text[i + order]] += 1
random.seed(1)
state, out = text[:order], []
for _ in range(letters):
    choices = model.get(state) or model[text[:order]]
    letter = random.choices(list(choices), choices.values())[0]
    out.append(letter)
    state = state[1:] + letter
print(Counter(out).most_common(3))
