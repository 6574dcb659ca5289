from kepler import period
print(period(2.7))
