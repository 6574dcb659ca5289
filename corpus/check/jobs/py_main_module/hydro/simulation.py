print("simulating")
