with open("orbit.dat", "w") as stream:
    for step in range(200_000):
        stream.write(f"{step}\n")
for epoch in range(3):
    with open("checkpoint.txt", "w") as stream:
        stream.write(str(epoch))
