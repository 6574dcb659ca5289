import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=10)
parser.add_argument("--rate", type=float, default=0.1)
options = parser.parse_args()
for epoch in range(options.epochs):
    print(epoch, options.rate / (1 + epoch))
