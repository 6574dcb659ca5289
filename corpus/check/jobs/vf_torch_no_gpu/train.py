import argparse

import torch

device = torch.device("cuda")
p = argparse.ArgumentParser()
p.add_argument("--batch", type=int, default=32)
a = p.parse_args()
net = torch.nn.Linear(10, 1).to(device)
x = torch.randn(a.batch, 10, device=device)
net(x).mean().backward()
