import json
import sys


def main(path):
    with open(path) as handle:
        params = json.loads(handle)
    for alpha in params["alpha"]:
        x = 1.0
        for _ in range(params["steps"]):
            x -= alpha * x
        print(alpha, x)


if __name__ == "__main__":
    main(sys.argv[1])
