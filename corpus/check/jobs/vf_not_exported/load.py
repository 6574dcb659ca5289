import os
from pathlib import Path

root = Path(os.environ["DATA_ROOT"])
print(len(list(root.iterdir())))
