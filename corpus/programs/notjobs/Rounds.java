import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public class Rounds {
    public static void main(String[] args) throws InterruptedException {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 12;
        CountDownLatch left = new CountDownLatch(rounds);
        ScheduledExecutorService timer = Executors.newScheduledThreadPool(1);
        timer.scheduleAtFixedRate(() -> {
            System.out.println("round " + left.getCount());
            left.countDown();
        }, 0, 10, TimeUnit.SECONDS);
        left.await();
        timer.shutdown();
    }
}
