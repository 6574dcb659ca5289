print("analysing")
