def melt(temperature, days):
    if temperature < 0:
        return 0.0
    rate = 4.5 * temperature
       return rate * days


print(melt(3.0, 30))
