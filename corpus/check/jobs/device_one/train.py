import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=1)
options = parser.parse_args()

device = torch.device("cuda:1")
model = torch.nn.Linear(10, 1).to(device)
for epoch in range(options.epochs):
    x = torch.randn(64, 10, device=device)
    print(epoch, model(x).mean().item())
