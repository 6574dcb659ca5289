public class Strassen {
    static double[][] multiply(double[][] a, double[][] b) {
        int n = a.length;
        if (n <= 64) {
            double[][] c = new double[n][n];
            for (int i = 0; i < n; i++)
                for (int k = 0; k < n; k++) {
                    double x = a[i][k];
                    for (int j = 0; j < n; j++) c[i][j] += x * b[k][j];
                }
            return c;
        }
        int h = n / 2;
        double[][] a11 = part(a, 0, 0, h), a12 = part(a, 0, h, h), a21 = part(a, h, 0, h), a22 = part(a, h, h, h);
        double[][] b11 = part(b, 0, 0, h), b12 = part(b, 0, h, h), b21 = part(b, h, 0, h), b22 = part(b, h, h, h);
        double[][] m1 = multiply(add(a11, a22, 1), add(b11, b22, 1));
        double[][] m2 = multiply(add(a21, a22, 1), b11);
        double[][] m3 = multiply(a11, add(b12, b22, -1));
        double[][] m4 = multiply(a22, add(b21, b11, -1));
        double[][] m5 = multiply(add(a11, a12, 1), b22);
        double[][] m6 = multiply(add(a21, a11, -1), add(b11, b12, 1));
        double[][] m7 = multiply(add(a12, a22, -1), add(b21, b22, 1));
        double[][] c = new double[n][n];
        for (int i = 0; i < h; i++)
            for (int j = 0; j < h; j++) {
                c[i][j] = m1[i][j] + m4[i][j] - m5[i][j] + m7[i][j];
                c[i][j + h] = m3[i][j] + m5[i][j];
                c[i + h][j] = m2[i][j] + m4[i][j];
                c[i + h][j + h] = m1[i][j] - m2[i][j] + m3[i][j] + m6[i][j];
            }
        return c;
    }

    static double[][] part(double[][] a, int r, int s, int n) {
        double[][] p = new double[n][];
        for (int i = 0; i < n; i++) p[i] = java.util.Arrays.copyOfRange(a[r + i], s, s + n);
        return p;
    }

    static double[][] add(double[][] a, double[][] b, int sign) {
        int n = a.length;
        double[][] c = new double[n][n];
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) c[i][j] = a[i][j] + sign * b[i][j];
        return c;
    }

    public static void main(String[] args) {
        int n = Integer.parseInt(args[0]), rounds = Integer.parseInt(args[1]);
        double[][] a = new double[n][n], b = new double[n][n];
        java.util.Random random = new java.util.Random(5);
        for (double[] row : a) for (int j = 0; j < n; j++) row[j] = random.nextDouble();
        for (double[] row : b) for (int j = 0; j < n; j++) row[j] = random.nextDouble();
        double trace = 0;
        for (int r = 0; r < rounds; r++) {
            double[][] c = multiply(a, b);
            trace += c[r % n][r % n];
        }
        System.out.println("trace " + trace);
    }
}
