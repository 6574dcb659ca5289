#!/usr/bin/env python3
import json
import optics
print(optics.focus(json.load(open("lens.json"))["radius"]))
