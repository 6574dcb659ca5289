import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

public class Fetch {
    public static void main(String[] args) throws Exception {
        HttpClient client = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();
        long total = 0;
        for (int i = 1; i <= Integer.parseInt(args[1]); i++) {
            Path target = Path.of("archive-" + i + ".dat");
            HttpRequest request = HttpRequest.newBuilder(URI.create(args[0] + "/bytes/" + (5_000_000 + i))).build();
            HttpResponse<Path> response = client.send(request, HttpResponse.BodyHandlers.ofFile(target));
            if (response.statusCode() != 200) {
                throw new IllegalStateException("status " + response.statusCode());
            }
            total += Files.size(target);
        }
        System.out.println(total + " bytes");
    }
}
