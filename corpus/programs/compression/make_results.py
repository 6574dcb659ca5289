import os
import random
import sys

os.makedirs("results")
random.seed(2)
for i in range(int(sys.argv[1])):
    with open(f"results/run{i}.csv", "w") as f:
        f.write("step,energy,pressure\n")
        for s in range(int(sys.argv[2])):
            f.write(f"{s},{random.gauss(-4, 0.1):.5f},{random.random():.4f}\n")
