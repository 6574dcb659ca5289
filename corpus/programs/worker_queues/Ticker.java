import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicInteger;

/** Scheduled measurements of a sensor that is simulated. */
public class Ticker {
    public static void main(String[] args) throws Exception {
        int readings = Integer.parseInt(args[0]);
        ScheduledExecutorService timer = Executors.newScheduledThreadPool(4);
        AtomicInteger left = new AtomicInteger(readings);
        CountDownLatch done = new CountDownLatch(1);
        ConcurrentLinkedQueue<Double> values = new ConcurrentLinkedQueue<>();
        timer.scheduleAtFixedRate(() -> {
            values.add(Math.sin(System.nanoTime() / 1e9));
            if (left.decrementAndGet() <= 0) done.countDown();
        }, 0, 100, TimeUnit.MILLISECONDS);
        done.await();
        timer.shutdownNow();
        System.out.printf("%d readings, mean %.3f%n", values.size(),
            values.stream().mapToDouble(Double::doubleValue).average().orElse(0));
    }
}
