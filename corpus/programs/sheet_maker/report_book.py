"""Monthly sales workbook with one sheet per region."""
import random
import sys

from openpyxl import Workbook
from openpyxl.styles import Font

rows, regions = int(sys.argv[1]), int(sys.argv[2])
rng = random.Random(4)
book = Workbook()
book.remove(book.active)
for region in range(regions):
    sheet = book.create_sheet(f"Region {region}")
    sheet.append(["day", "product", "units", "price", "total"])
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    for r in range(2, rows // regions + 2):
        sheet.append([r % 31 + 1, f"P{rng.randrange(90)}", rng.randrange(40), rng.random() * 90, f"=C{r}*D{r}"])
book.save("sales.xlsx")
print(len(book.sheetnames), "sheets")
