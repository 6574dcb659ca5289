import os

from pipeline.config import settings
from pipeline.io import load_table

print(settings, load_table(os.devnull))
