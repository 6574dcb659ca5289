import sys

from lxml import etree

STYLE = etree.XSLT(etree.XML("""
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:key name="year" match="book" use="year"/>
  <xsl:template match="/catalog">
    <years>
      <xsl:for-each select="book[generate-id() = generate-id(key('year', year)[1])]">
        <xsl:sort select="year"/>
        <year number="{year}" books="{count(key('year', year))}" sum="{sum(key('year', year)/price)}"/>
      </xsl:for-each>
    </years>
  </xsl:template>
</xsl:stylesheet>"""))

for n in range(int(sys.argv[2])):
    catalog = etree.parse(sys.argv[1])
    for book in catalog.iterfind("book"):
        book.find("price").text = f"{float(book.findtext('price')) * (1 + n / 100):.2f}"
        book.find("title").text = book.findtext("title").upper()
    years = STYLE(catalog)
    print(n, len(years.getroot()))
years.write("years.xml")
