import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public class Latch {
    public static void main(String[] args) throws InterruptedException {
        int steps = Integer.parseInt(args[0]);
        CountDownLatch latch = new CountDownLatch(steps);
        ScheduledExecutorService timer = Executors.newScheduledThreadPool(2);
        timer.scheduleAtFixedRate(() -> {
            System.out.println("step " + latch.getCount());
            latch.countDown();
        }, 100, 700, TimeUnit.MILLISECONDS);
        if (!latch.await(30, TimeUnit.SECONDS)) {
            System.err.println("timeout");
        }
        timer.shutdownNow();
    }
}
