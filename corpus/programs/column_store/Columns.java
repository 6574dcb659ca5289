public class Columns {
    public static void main(String[] args) {
        int rows = Integer.parseInt(args[0]);
        int queries = Integer.parseInt(args[1]);
        double[] price = new double[rows];
        int[] order = new int[rows];
        for (int i = 0; i < rows; i++) {
            price[i] = i % 1013 * 0.25;
            order[i] = i;
        }
        long state = 88172645463325252L;
        for (int i = rows - 1; i > 0; i -= 1) { // a secondary index in no useful order
            state ^= state << 13;
            state ^= state >>> 7;
            state ^= state << 17;
            int j = (int) Long.remainderUnsigned(state, i + 1L);
            int t = order[i];
            order[i] = order[j];
            order[j] = t;
        }
        for (int q = 0; q < queries; q++) {
            double sum = 0;
            for (int k = q; k < rows; k += 3) {
                sum += price[order[k]];
            }
            System.out.println(q + " " + sum);
        }
    }
}
