import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A journal with group commit: events of a second or so share one synced write. */
public class Journal implements AutoCloseable {
    private static final int GROUP = 1 << 20;
    private final FileChannel channel;
    private final ByteBuffer group = ByteBuffer.allocateDirect(GROUP);

    Journal(Path path) throws IOException {
        channel = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE,
                StandardOpenOption.TRUNCATE_EXISTING);
    }

    void append(byte[] event) throws IOException {
        if (group.remaining() < event.length + 4) {
            commit();
        }
        group.putInt(event.length).put(event);
    }

    void commit() throws IOException {
        group.flip();
        while (group.hasRemaining()) {
            channel.write(group);
        }
        channel.force(true);
        group.clear();
        if (channel.position() > 64L * GROUP) {
            channel.position(0); // the journal wraps around
        }
    }

    @Override
    public void close() throws IOException {
        commit();
        channel.close();
    }

    public static void main(String[] args) throws IOException {
        int events = Integer.parseInt(args[0]);
        byte[] picture = "p".repeat(100_000).getBytes(StandardCharsets.UTF_8);
        try (Journal journal = new Journal(Path.of("journal.dat"))) {
            for (int i = 0; i < events; i++) {
                picture[i % picture.length]++;
                journal.append(picture);
            }
        }
        System.out.println(events + " events are safe");
    }
}
