import random

walkers = int(input("How many walkers? "))
random.seed(1)
ends = [sum(random.choice((-1, 1)) for _ in range(100)) for _ in range(walkers)]
print(sum(ends) / walkers)
