def smooth(xs, k=3):
    out = []
    for i in range(len(xs)):
        window = xs[max(0, i - k):i + k]
	out.append(sum(window) / len(window))
    return out


print(smooth([1, 4, 2, 8, 5, 7]))
