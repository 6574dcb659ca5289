import java.io.*;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;

public class Net {
    public static void main(String[] args) throws IOException {
        Properties p = new Properties();
        try (Reader r = Files.newBufferedReader(Path.of(args[0]))) {
            p.load(r);
        }
        int n = Integer.parseInt(p.getProperty("genes")), k = Integer.parseInt(p.getProperty("inputs", "2"));
        int steps = Integer.parseInt(args[1]), net = Integer.parseInt(args[2]);
        long attractors = IntStream.range(0, 64).parallel()
            .mapToObj(s -> cycle(n, k, steps, net, s)).filter(c -> c > 0).count();
        System.out.printf("%d of 64 initial states settle%n", attractors);
    }

    static int cycle(int n, int k, int steps, int net, int seed) {
        Rng r = new Rng(4711 + net);
        int[][] in = new int[n][k];
        boolean[][] f = new boolean[n][1 << k];
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < k; j++) in[i][j] = r.below(n);
            for (int j = 0; j < 1 << k; j++) f[i][j] = r.below(2) == 1;
        }
        Rng s = new Rng(seed);
        BitSet x = new BitSet(n);
        for (int i = 0; i < n; i++) x.set(i, s.below(2) == 1);
        Map<BitSet, Integer> seen = new HashMap<>();
        for (int t = 0; t < steps; t++) {
            Integer before = seen.putIfAbsent((BitSet) x.clone(), t);
            if (before != null) return t - before;
            BitSet y = new BitSet(n);
            for (int i = 0; i < n; i++) {
                int idx = 0;
                for (int j : in[i]) idx = 2 * idx + (x.get(j) ? 1 : 0);
                y.set(i, f[i][idx]);
            }
            x = y;
        }
        return 0;
    }
}
