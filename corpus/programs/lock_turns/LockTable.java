import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/** Dining philosophers who eat slowly. */
public class LockTable {
    public static void main(String[] args) throws InterruptedException {
        int seats = Integer.parseInt(args[0]);
        int meals = Integer.parseInt(args[1]);
        ReentrantLock[] forks = new ReentrantLock[seats];
        for (int i = 0; i < seats; i++) {
            forks[i] = new ReentrantLock(true);
        }
        List<Thread> guests = new ArrayList<>();
        for (int i = 0; i < seats; i++) {
            int first = Math.min(i, (i + 1) % seats);
            int second = Math.max(i, (i + 1) % seats);
            int number = i;
            Thread guest = new Thread(() -> {
                for (int m = 0; m < meals; m++) {
                    forks[first].lock();
                    forks[second].lock();
                    try {
                        Thread.sleep(200);
                    } catch (InterruptedException e) {
                        return;
                    } finally {
                        forks[second].unlock();
                        forks[first].unlock();
                    }
                }
                System.out.println("guest " + number + " is full");
            });
            guests.add(guest);
            guest.start();
        }
        for (Thread guest : guests) {
            guest.join();
        }
    }
}
