import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Instant;

public class Doorbell {
    public static void main(String[] args) throws IOException {
        try (ServerSocket door = new ServerSocket(9999)) {
            while (true) {
                try (Socket visitor = door.accept()) {
                    visitor.getOutputStream().write((Instant.now() + " ding\n").getBytes());
                } catch (IOException e) {
                    System.err.println(e.getMessage());
                }
            }
        }
    }
}
