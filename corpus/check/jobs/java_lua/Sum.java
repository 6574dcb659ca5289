public class Sum {
    public static void main(String[] args) {
        double s = 0;
        for (String a : args) {
            s += Double.parseDouble(a);
        }
        System.out.println(s);
    }
}
