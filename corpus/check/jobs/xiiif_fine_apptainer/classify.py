import argparse
import csv

import torch
from torch import nn

ap = argparse.ArgumentParser()
ap.add_argument("--calls", required=True)
ap.add_argument("--workers", type=int, default=1)
ap.add_argument("--tokens", type=int, default=512)
ap.add_argument("--rounds", type=int, default=0)
a = ap.parse_args()

torch.set_num_threads(a.workers)
dev = "cuda" if torch.cuda.is_available() else "cpu"
print("device", dev)
with open(a.calls, newline="") as fh:
    rows = [(float(r["low"]), float(r["high"]), float(r["len"]), int(r["species"]))
            for r in csv.DictReader(fh)]
x = torch.tensor([r[:3] for r in rows], device=dev)
x = (x - x.mean(0)) / x.std(0)
y = torch.tensor([r[3] for r in rows], device=dev)
net = nn.Sequential(nn.Linear(3, 32), nn.GELU(), nn.Linear(32, 2)).to(dev)
opt = torch.optim.AdamW(net.parameters(), lr=1e-2)
for step in range(a.tokens):
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print("loss", float(loss))
torch.save(net.state_dict(), "whales.pt")
