energy = [k ** 0.5 for k in range(50)]
with open("results/energy.txt", "w") as out:
    for value in energy:
        out.write(f"{value:.3f}\n")
