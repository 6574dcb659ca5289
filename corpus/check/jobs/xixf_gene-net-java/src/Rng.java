class Rng {
    private long s;

    Rng(long seed) {
        s = seed * 6364136223846793005L + 1442695040888963407L;
    }

    int below(int n) {
        s = s * 6364136223846793005L + 1442695040888963407L;
        return (int) ((s >>> 33) % n);
    }
}
