import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

public class Rendezvous {
    public static void main(String[] args) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread sender = new Thread(() -> {
                try (Socket s = new Socket(InetAddress.getLoopbackAddress(), server.getLocalPort())) {
                    DataOutputStream out = new DataOutputStream(s.getOutputStream());
                    for (int i = 0; i < 1_000_000; i++) {
                        out.writeInt(i);
                    }
                } catch (java.io.IOException e) {
                    e.printStackTrace();
                }
            });
            sender.start();
            long sum = 0;
            try (Socket s = server.accept()) {
                DataInputStream in = new DataInputStream(s.getInputStream());
                for (int i = 0; i < 1_000_000; i++) {
                    sum += in.readInt();
                }
            }
            sender.join();
            System.out.println(sum);
        }
    }
}
