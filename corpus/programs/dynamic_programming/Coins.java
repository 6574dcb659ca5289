public class Coins {
    public static void main(String[] args) {
        int amount = Integer.parseInt(args[0]);
        int rounds = Integer.parseInt(args[1]);
        int[] coins = {1, 2, 5, 10, 20, 50, 100, 200};
        long last = 0;
        for (int r = 0; r < rounds; r++) {
            long[] ways = new long[amount + 1];
            ways[0] = 1;
            for (int coin : coins)
                for (int a = coin; a <= amount; a++)
                    ways[a] = (ways[a] + ways[a - coin]) % 1_000_000_007L;
            last = ways[amount - r % 10];
        }
        System.out.println(last);
    }
}
