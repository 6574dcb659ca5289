import java.io.*;
import java.nio.*;
import java.nio.channels.*;
import java.nio.file.*;
import java.util.zip.CRC32;

/** Write-ahead log with forced writes, group commit of a few records. */
public class Wal {
    public static void main(String[] args) throws IOException {
        int commits = Integer.parseInt(args[0]);
        ByteBuffer page = ByteBuffer.allocate(4096);
        CRC32 crc = new CRC32();
        try (FileChannel log = FileChannel.open(Path.of("wal.log"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            for (int c = 0; c < commits; c++) {
                page.clear();
                for (int r = 0; r < 16; r++) page.putLong((long) c * 16 + r);
                crc.update(page.array(), 0, page.position());
                page.putLong(crc.getValue());
                page.rewind();
                log.write(page);
                log.force(false);
            }
        }
        System.out.println(crc.getValue());
    }
}
