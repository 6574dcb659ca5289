import java.io.RandomAccessFile;
import java.util.Random;

public class Lookup {
    public static void main(String[] args) throws Exception {
        Random random = new Random(3);
        int probes = Integer.parseInt(args[1]);
        byte[] record = new byte[64];
        long odd = 0;
        try (RandomAccessFile table = new RandomAccessFile(args[0], "r")) {
            long records = table.length() / record.length;
            for (int i = 0; i < probes; i++) {
                table.seek((long) (random.nextDouble() * records) * record.length);
                table.readFully(record);
                odd += record[0] & 1;
            }
        }
        System.out.println(odd + " odd records");
    }
}
