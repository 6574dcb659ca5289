import random


def play(rng):
    secret, low, high, tries = rng.randint(1, 10**6), 1, 10**6, 0
    while True:
        guess = rng.randint(low, high)
        tries += 1
        if guess == secret:
            return tries
        if guess < secret:
            low = guess + 1
        else:
            high = guess - 1


rng = random.Random(1)
games = [play(rng) for _ in range(50_000)]
print(sum(games) / len(games))
