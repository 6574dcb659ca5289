public class Mean {
    public static void main(String[] args) {
        double s = 0
        for (int i = 1; i <= 10; i++) s += i;
        System.out.println(s / 10);
    }
}
