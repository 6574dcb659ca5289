import java.io.*;
import java.nio.file.*;
import java.util.*;

/** Clarke and Wright, parallel version, one depot in the first line. */
public class Savings {
    public static void main(String[] a) throws IOException {
        List<double[]> p = new ArrayList<>();
        for (String s : Files.readAllLines(Path.of(a[0]))) {
            if (s.isBlank()) continue;
            String[] f = s.trim().split("\\s+");
            p.add(new double[] {Double.parseDouble(f[0]), Double.parseDouble(f[1])});
        }
        int n = p.size(), cap = 4;
        List<double[]> sav = new ArrayList<>();
        for (int i = 1; i < n; i++)
            for (int j = i + 1; j < n; j++)
                sav.add(new double[] {d(p, 0, i) + d(p, 0, j) - d(p, i, j), i, j});
        sav.sort((x, y) -> Double.compare(y[0], x[0]));
        Map<Integer, Deque<Integer>> route = new HashMap<>();
        for (int i = 1; i < n; i++) route.put(i, new ArrayDeque<>(List.of(i)));
        for (double[] s : sav) {
            Deque<Integer> u = route.get((int) s[1]), v = route.get((int) s[2]);
            if (u == v || u.size() + v.size() > cap) continue;
            if (u.peekLast() != (int) s[1] || v.peekFirst() != (int) s[2]) continue;
            u.addAll(v);
            for (int k : v) route.put(k, u);
        }
        new LinkedHashSet<>(route.values()).forEach(System.out::println);
    }

    static double d(List<double[]> p, int i, int j) {
        return Math.hypot(p.get(i)[0] - p.get(j)[0], p.get(i)[1] - p.get(j)[1]);
    }
}
