import argparse
import csv

import torch
from torch import nn

ap = argparse.ArgumentParser()
ap.add_argument("--epochs", type=int, default=10)
ap.add_argument("--labels", required=True)
args = ap.parse_args()

with open(args.labels) as fh:
    rows = [(list(map(float, r[:3])), int(r[3])) for r in csv.reader(fh)]
x = torch.tensor([r[0] for r in rows])
y = torch.tensor([r[1] for r in rows])

device = torch.device("cuda")
model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 3)).to(device)
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
loss_fn = nn.CrossEntropyLoss()
x, y = x.to(device), y.to(device)
for epoch in range(args.epochs):
    opt.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    opt.step()
    print(epoch, loss.item(), flush=True)
torch.save(model.state_dict(), "model.pt")
