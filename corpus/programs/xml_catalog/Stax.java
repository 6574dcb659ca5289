import java.io.BufferedInputStream;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeMap;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamReader;

public class Stax {
    public static void main(String[] args) throws Exception {
        XMLInputFactory factory = XMLInputFactory.newInstance();
        for (int round = 0; round < Integer.parseInt(args[1]); round++) {
            TreeMap<String, Double> perYear = new TreeMap<>();
            try (InputStream in = new BufferedInputStream(Files.newInputStream(Path.of(args[0])))) {
                XMLStreamReader reader = factory.createXMLStreamReader(in);
                String year = "";
                while (reader.hasNext()) {
                    if (reader.next() != XMLStreamConstants.START_ELEMENT) {
                        continue;
                    }
                    if (reader.getLocalName().equals("year")) {
                        year = reader.getElementText();
                    } else if (reader.getLocalName().equals("price")) {
                        perYear.merge(year, Double.valueOf(reader.getElementText()), Double::sum);
                    }
                }
            }
            System.out.println(round + " " + perYear.firstEntry());
        }
    }
}
