import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A recursive descent parser for JSON, good enough for our exports. */
public class Tokens {
    private final String text;
    private int at;

    Tokens(String text) {
        this.text = text;
    }

    Object value() {
        skip();
        char c = text.charAt(at);
        if (c == '{') {
            Map<String, Object> map = new LinkedHashMap<>();
            at++;
            for (skip(); text.charAt(at) != '}'; skip()) {
                if (text.charAt(at) == ',') {
                    at++;
                    skip();
                }
                String key = string();
                skip();
                at++;
                map.put(key, value());
            }
            at++;
            return map;
        }
        if (c == '[') {
            List<Object> list = new ArrayList<>();
            at++;
            for (skip(); text.charAt(at) != ']'; skip()) {
                if (text.charAt(at) == ',') {
                    at++;
                }
                list.add(value());
            }
            at++;
            return list;
        }
        if (c == '"') {
            return string();
        }
        int start = at;
        while (at < text.length() && ",]} \n".indexOf(text.charAt(at)) < 0) {
            at++;
        }
        return Double.valueOf(text.substring(start, at));
    }

    private String string() {
        StringBuilder out = new StringBuilder();
        for (at++; text.charAt(at) != '"'; at++) {
            if (text.charAt(at) == '\\') {
                at++;
            }
            out.append(text.charAt(at));
        }
        at++;
        return out.toString();
    }

    private void skip() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
            at++;
        }
    }

    public static void main(String[] args) throws Exception {
        List<String> lines = Files.readAllLines(Path.of(args[0]));
        for (int r = Integer.parseInt(args[1]); r > 0; r--) {
            int keys = 0;
            for (String line : lines) {
                keys += ((Map<?, ?>) new Tokens(line).value()).size();
            }
            System.out.println(keys);
        }
    }
}
