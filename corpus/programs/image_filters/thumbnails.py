#!/usr/bin/env python3
import pathlib
import sys

from PIL import Image, ImageFilter

done = 0
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.png")):
    with Image.open(path) as picture:
        small = picture.convert("RGB").filter(ImageFilter.GaussianBlur(4)).resize((160, 120), Image.LANCZOS)
        small.save(path.with_suffix(".jpg"), quality=85)
    done += 1
    if done == int(sys.argv[2]):
        break
print(done, "thumbnails")
