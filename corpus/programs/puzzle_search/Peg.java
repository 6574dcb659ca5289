import java.util.HashSet;
import java.util.Set;

/** Peg solitaire on a triangle: how many positions can be reached? */
public class Peg {
    static int[][] jumps;

    static int index(int r, int c) {
        return r * (r + 1) / 2 + c;
    }

    public static void main(String[] args) {
        int rows = Integer.parseInt(args[0]);
        int cells = rows * (rows + 1) / 2;
        java.util.List<int[]> found = new java.util.ArrayList<>();
        int[][] ways = {{0, 1}, {0, -1}, {1, 0}, {-1, 0}, {1, 1}, {-1, -1}};
        for (int r = 0; r < rows; r++)
            for (int c = 0; c <= r; c++)
                for (int[] w : ways) {
                    int r2 = r + 2 * w[0], c2 = c + 2 * w[1];
                    if (r2 >= 0 && r2 < rows && c2 >= 0 && c2 <= r2)
                        found.add(new int[] {index(r, c), index(r + w[0], c + w[1]), index(r2, c2)});
                }
        jumps = found.toArray(new int[0][]);
        Set<Integer> seen = new HashSet<>();
        java.util.ArrayDeque<Integer> open = new java.util.ArrayDeque<>();
        open.add(((1 << cells) - 1) & ~1);
        int limit = Integer.parseInt(args[1]);
        while (!open.isEmpty() && seen.size() < limit) {
            int board = open.pop();
            if (!seen.add(board)) continue;
            for (int[] j : jumps) {
                int from = 1 << j[0], over = 1 << j[1], to = 1 << j[2];
                if ((board & from) != 0 && (board & over) != 0 && (board & to) == 0)
                    open.push(board ^ from ^ over ^ to);
            }
        }
        System.out.println(seen.size() + " positions");
    }
}
