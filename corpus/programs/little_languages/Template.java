import java.util.*;
import java.util.regex.*;

/** Expand templates with nested placeholders. */
public class Template {
    private static final Pattern PLACE = Pattern.compile("\\$\\{([a-z.]+)\\}");

    static String expand(String text, Map<String, String> values, int depth) {
        Matcher m = PLACE.matcher(text);
        StringBuilder out = new StringBuilder();
        while (m.find()) {
            String value = values.getOrDefault(m.group(1), "?");
            m.appendReplacement(out, Matcher.quoteReplacement(depth > 0 ? expand(value, values, depth - 1) : value));
        }
        m.appendTail(out);
        return out.toString();
    }

    public static void main(String[] args) {
        int letters = Integer.parseInt(args[0]);
        Map<String, String> values = new HashMap<>();
        values.put("name", "${title} ${first} ${last}");
        values.put("title", "Dr.");
        values.put("last", "Weber");
        values.put("address", "${street}, ${city}");
        values.put("city", "Lyon");
        long length = 0;
        for (int i = 0; i < letters; i++) {
            values.put("first", "A" + i);
            values.put("street", i + " Main Road");
            length += expand("Dear ${name},\nyour parcel goes to ${address}.\n${sender.name}", values, 3).length();
        }
        System.out.println(length);
    }
}
