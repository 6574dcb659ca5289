import argparse
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=1)
    options = parser.parse_args()
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl")
    model = DistributedDataParallel(torch.nn.Linear(8, 2).to(f"cuda:{rank}"), device_ids=[rank])
    for epoch in range(options.epochs):
        loss = model(torch.randn(32, 8, device="cuda")).sum()
        loss.backward()
        if rank == 0:
            print(epoch, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
