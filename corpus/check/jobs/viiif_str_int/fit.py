import random
import sys

task = int(sys.argv[1])
random.seed(task)
draws = [random.gauss(0, 1) for _ in range(1000)]
name = "fit_" + task + ".txt"
with open(name, "w") as out:
    out.write(f"{sum(draws) / len(draws)}\n")
