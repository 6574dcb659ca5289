import random

secret = random.randint(1, 100)
tries = 0
while True:
    guess = int(input("Your guess? "))
    tries += 1
    if guess == secret:
        print("Right, after", tries, "tries")
        break
    print("higher" if guess < secret else "lower")
