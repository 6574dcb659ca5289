import random

n_steps = 100
temperature = 300.0


def step(state):
    return state + random.gauss(0, 1)


def main():
    state = 0.0
    for i in range(nsteps):
        state = step(state)
    print(f"{state:.3f} at {temperature}")


main()
