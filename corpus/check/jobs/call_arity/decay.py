from math import exp


def activity(start, rate, time):
    return start * exp(-rate * time)


for day in range(0, 30, 5):
    print(day, activity(100.0, day))
