#!/usr/bin/env python
import argparse, csv, sys
import torch

p = argparse.ArgumentParser()
p.add_argument("--epochs", type=int)
p.add_argument("--lr", type=float)
a = p.parse_args()
rows = list(csv.reader(open("data.csv")))
dev = "cuda" if torch.cuda.is_available() else "cpu"
w = torch.zeros(2, device=dev, requires_grad=True)
for e in range(a.epochs):
    ((w - 1) ** 2).sum().backward()
    with torch.no_grad():
        w -= a.lr * w.grad
        w.grad.zero_()
torch.save({"w": w}, "ckpt.pt")
