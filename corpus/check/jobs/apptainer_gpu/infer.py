import torch

model = torch.nn.Conv2d(3, 8, 3).cuda()
print(model(torch.randn(1, 3, 64, 64).cuda()).shape)
