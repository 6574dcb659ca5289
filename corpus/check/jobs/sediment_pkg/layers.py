import csv
import sedimentary_tools
print(sedimentary_tools.layers(csv))
