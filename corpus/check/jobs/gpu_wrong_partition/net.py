try:
    import torch

    model = torch.nn.Linear(2, 2).to("cuda")
except ImportError:
    model = None
print(model)
