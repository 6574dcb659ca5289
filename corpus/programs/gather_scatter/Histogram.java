import java.util.SplittableRandom;

public class Histogram {
    public static void main(String[] args) {
        int bins = Integer.parseInt(args[0]);
        long events = Long.parseLong(args[1]);
        int[] counts = new int[bins];
        SplittableRandom random = new SplittableRandom(17);
        for (long e = 0; e < events; e++) {
            counts[random.nextInt(bins)]++;
        }
        int most = 0;
        for (int c : counts) {
            most = Math.max(most, c);
        }
        System.out.printf("%d events in %d bins, most %d%n", events, bins, most);
    }
}
