import java.io.File;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public class Cron {
    public static void main(String[] args) {
        ScheduledExecutorService timer = Executors.newScheduledThreadPool(1);
        timer.scheduleAtFixedRate(() -> {
            File[] files = new File("/var/spool/outgoing").listFiles();
            System.out.println((files == null ? 0 : files.length) + " waiting");
        }, 0, 1, TimeUnit.MINUTES);
    }
}
