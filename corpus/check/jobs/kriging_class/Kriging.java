public class Kriging {
    public static void main(String[] args) {
        int n = args.length > 0 ? Integer.parseInt(args[0]) : 10;
        double sum = 0;
        for (int i = 0; i < n; i++) sum += Math.exp(-i / 3.0);
        System.out.println(sum);
    }
}
