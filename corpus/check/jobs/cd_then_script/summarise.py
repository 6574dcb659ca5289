print("mean", sum(range(10)) / 10)
