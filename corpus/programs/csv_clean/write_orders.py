import random
import sys

random.seed(8)
with open(sys.argv[2], "w") as out:
    out.write("order;date;customer;amount;note\n")
    for n in range(int(sys.argv[1])):
        amount = f"{random.random() * 900:.2f}".replace(".", ",")
        out.write(f'{n};{random.randrange(1, 29):02d}.{random.randrange(1, 13):02d}.2023; Customer {random.randrange(700)} ;{amount};"{"late " * random.randrange(4)}"\n')
