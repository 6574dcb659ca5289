package org.lab;

import java.util.*;

class Graph {
    private final Map<String, List<String>> out = new TreeMap<>();

    void link(String a, String b) {
        out.computeIfAbsent(a, k -> new ArrayList<>()).add(b);
        out.computeIfAbsent(b, k -> new ArrayList<>());
    }

    Map<String, Double> ranks(int n) {
        Map<String, Double> r = new TreeMap<>();
        out.keySet().forEach(k -> r.put(k, 1.0));
        for (int i = 0; i < n; i++) {
            Map<String, Double> nx = new TreeMap<>();
            out.keySet().forEach(k -> nx.put(k, 0.15));
            out.forEach((k, v) -> v.forEach(t -> nx.merge(t, 0.85 * r.get(k) / v.size(), Double::sum)));
            r.putAll(nx);
        }
        return r;
    }
}
