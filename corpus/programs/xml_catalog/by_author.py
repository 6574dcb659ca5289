import collections
import sys
import xml.etree.ElementTree as ET

source, rounds = sys.argv[1], int(sys.argv[2])
for _ in range(rounds):
    prices = collections.defaultdict(list)
    for _, element in ET.iterparse(source):
        if element.tag == "book":
            price = float(element.findtext("price"))
            for author in element.iterfind("author"):
                prices[author.text].append((price, element.get("id")))
            element.clear()
    summary = ET.Element("authors")
    for name in sorted(prices):
        one = ET.SubElement(summary, "author", name=name, books=str(len(prices[name])))
        one.text = f"{sum(p for p, _ in prices[name]):.2f}"
    ET.ElementTree(summary).write("authors.xml")
print(len(prices), "authors")
