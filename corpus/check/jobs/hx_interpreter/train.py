#!/usr/local/bin/python3.7
print("loss 0.1")
