import java.util.Arrays;
import java.util.PriorityQueue;

public class Tournament {
    record Head(int value, int run, int at) implements Comparable<Head> {
        public int compareTo(Head other) {
            return Integer.compare(value, other.value);
        }
    }

    public static void main(String[] args) {
        int n = Integer.parseInt(args[0]);
        int[][] runs = new int[16][];
        long state = 42;
        for (int r = 0; r < runs.length; r++) {
            runs[r] = new int[n / runs.length];
            for (int i = 0; i < runs[r].length; i++) {
                state = state * 6364136223846793005L + 1442695040888963407L;
                runs[r][i] = (int) (state >>> 33);
            }
            Arrays.sort(runs[r]);
        }
        PriorityQueue<Head> heads = new PriorityQueue<>();
        for (int r = 0; r < runs.length; r++) {
            heads.add(new Head(runs[r][0], r, 0));
        }
        int last = Integer.MIN_VALUE, wrong = 0, count = 0;
        while (!heads.isEmpty()) {
            Head head = heads.poll();
            wrong += head.value() < last ? 1 : 0;
            last = head.value();
            count++;
            if (head.at() + 1 < runs[head.run()].length) {
                heads.add(new Head(runs[head.run()][head.at() + 1], head.run(), head.at() + 1));
            }
        }
        System.out.println(count + " merged, " + wrong + " out of order");
    }
}
