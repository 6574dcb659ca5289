import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;

class Packer {
    public static void main(String[] args) throws IOException {
        byte[] input = Files.readAllBytes(Path.of(args[0]));
        int rounds = Integer.parseInt(args[1]);
        for (int round = 0; round < rounds; round++) {
            CRC32 crc = new CRC32();
            crc.update(input, round, input.length - round);
            ByteArrayOutputStream packed = new ByteArrayOutputStream();
            Deflater deflater = new Deflater(1 + round % 9);
            try (OutputStream out = new DeflaterOutputStream(packed, deflater)) {
                out.write(input, round, input.length - round);
            }
            deflater.end();
            Files.write(Path.of("part" + round % 3 + ".z"), packed.toByteArray());
            System.out.printf("%d %08x %d%n", round, crc.getValue(), packed.size());
        }
    }
}
