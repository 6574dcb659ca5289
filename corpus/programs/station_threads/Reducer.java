import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public class Reducer {
    static long collatz(long from, long to) {
        long longest = 0;
        for (long n = from; n < to; n++) {
            long x = n, length = 0;
            while (x > 1) {
                x = (x & 1) == 0 ? x >> 1 : 3 * x + 1;
                length++;
            }
            longest = Math.max(longest, length << 32 | n);
        }
        return longest;
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(Integer.parseInt(args[0]));
        int blocks = Integer.parseInt(args[1]);
        List<Future<Long>> parts = new ArrayList<>();
        for (int b = 0; b < blocks; b++) {
            long from = 1 + b * 20_000L;
            parts.add(pool.submit(() -> collatz(from, from + 20_000)));
        }
        long best = 0;
        for (Future<Long> part : parts) {
            best = Math.max(best, part.get());
        }
        pool.shutdown();
        System.out.println((best & 0xffffffffL) + " takes " + (best >> 32) + " steps");
    }
}
