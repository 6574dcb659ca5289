import torch

device = torch.device("cuda")
model = torch.nn.Linear(10, 1).to(device)
x = torch.randn(64, 10, device=device)
print(model(x).mean().item())
