import java.util.Random;

public class MarketSim {
    private final double[] wealth;
    private final Random rng;

    MarketSim(int agents, long seed) {
        wealth = new double[agents];
        java.util.Arrays.fill(wealth, 10.0);
        rng = new Random(seed);
    }

    void trade() {
        int i = rng.nextInt(wealth.length), j = rng.nextInt(wealth.length);
        double stake = 0.1 * Math.min(wealth[i], wealth[j]);
        wealth[i] -= stake;
        wealth[j] += stake;
    }

    public static void main(String[] args) {
        if (args.length != 3) {
            System.err.println("usage: MarketSim agents rounds seed");
            System.exit(2);
        }
        MarketSim m = new MarketSim(Integer.parseInt(args[0]), Long.parseLong(args[2]));
        int rounds = Integer.parseInt(args[1]);
        for (int k = 0; k < rounds; k++) m.trade();
        for (double w : m.wealth) System.out.printf("%.4f%n", w);
    }
}
