import java.util.Arrays;

/** Column sums of a wide table stored by rows, column after column. */
public class Pivot {
    public static void main(String[] args) {
        int rows = Integer.parseInt(args[0]);
        int columns = Integer.parseInt(args[1]);
        int passes = Integer.parseInt(args[2]);
        int[][] table = new int[rows][columns];
        for (int r = 0; r < rows; r++)
            Arrays.fill(table[r], r % 97);
        long[] sums = new long[columns];
        for (int p = 0; p < passes; p++)
            for (int c = 0; c < columns; c++)
                for (int r = 0; r < rows; r++)
                    sums[c] += table[r][c];
        System.out.println(sums[0] + " " + sums[columns - 1]);
    }
}
