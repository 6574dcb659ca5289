import java.io.*;

public class Mandel {
    public static void main(String[] args) throws IOException {
        int size = Integer.parseInt(args[0]), limit = Integer.parseInt(args[1]);
        try (DataOutputStream out = new DataOutputStream(new BufferedOutputStream(new FileOutputStream("set.pgm")))) {
            out.writeBytes("P5 " + size + " " + size + " 255\n");
            for (int y = 0; y < size; y++)
                for (int x = 0; x < size; x++) {
                    double cr = 3.0 * x / size - 2.2, ci = 3.0 * y / size - 1.5, zr = 0, zi = 0;
                    int n = 0;
                    while (n < limit && zr * zr + zi * zi < 4) {
                        double t = zr * zr - zi * zi + cr;
                        zi = 2 * zr * zi + ci;
                        zr = t;
                        n++;
                    }
                    out.writeByte(n == limit ? 0 : 255 - n % 200);
                }
        }
    }
}
