import pathlib
import zipfile

here = pathlib.Path(__file__).parent
with zipfile.ZipFile("weight.npz") as z:
    print(z.namelist())
