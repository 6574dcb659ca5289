package org.lab;

import java.util.*;

public final class Rank {
    public static void main(String[] a) {
        Graph g = new Graph();
        try (Scanner s = new Scanner(System.in)) {
            while (s.hasNext()) g.link(s.next(), s.next());
        }
        g.ranks(30).forEach((k, v) -> System.out.printf("%s %.4f%n", k, v));
    }
}
