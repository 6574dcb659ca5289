import pathlib
import sys

from PIL import Image

pathlib.Path("pictures").mkdir()
tile = Image.effect_noise((320, 240), 80).resize((1280, 960)).convert("RGB")
for i in range(int(sys.argv[1])):
    tile.rotate(i).save(f"pictures/p{i:03}.png", compress_level=1)
