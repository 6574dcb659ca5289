import java.nio.file.*;
import java.util.*;

public class Concordance {
    public static void main(String[] args) throws Exception {
        Map<String, List<Integer>> index = new TreeMap<>();
        List<String> lines = Files.readAllLines(Path.of(args[0]));
        int passes = Integer.parseInt(args[1]);
        for (int pass = 0; pass < passes; pass++) {
            index.clear();
            for (int n = 0; n < lines.size(); n++)
                for (String word : lines.get(n).split("\\s+"))
                    index.computeIfAbsent(word, w -> new ArrayList<>()).add(n);
        }
        String widest = Collections.max(index.keySet(), Comparator.comparingInt(w -> index.get(w).size()));
        System.out.println(index.size() + " words, " + widest + " on " + index.get(widest).size() + " places");
    }
}
