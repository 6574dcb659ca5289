"""Energy balance model: one year, daily steps."""
import json
import math
import sys

SIGMA = 5.67e-8
SOLAR = 1361.0
HEAT_CAPACITY = 4.0e8


def step(t, co2, dt):
    albedo = 0.3 if t > 280 else 0.45
    absorbed = SOLAR / 4 * (1 - albedo)
    forcing = 5.35 * math.log(co2 / 280.0)
    emitted = 0.612 * SIGMA * t ** 4
    return t + dt * (absorbed + forcing - emitted) / HEAT_CAPACITY


def main():
    src, dst = sys.argv[1:3]
    with open(src) as fh:
        state = json.load(fh)
    for _ in range(365):
        state["temperature"] = step(state["temperature"], state["co2"], 86400.0)
    state["year"] += 1
    state["co2"] *= 1.003
    with open(dst, "w") as fh:
        json.dump(state, fh)


if __name__ == "__main__":
    main()
