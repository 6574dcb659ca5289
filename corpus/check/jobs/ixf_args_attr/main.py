import argparse


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--epochs", type=int, default=3)
    return parser.parse_args()


def main():
    args = get_args()
    w = 1.0
    for epoch in range(args.epochs):
        w -= args.lr * w
    print(w)


if __name__ == "__main__":
    main()
