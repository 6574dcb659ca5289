#!/usr/bin/env python3
import pathlib
print(pathlib.Path("ref.fa").exists())
