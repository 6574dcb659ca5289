settings = {"threads": 4}
