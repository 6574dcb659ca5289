package org.lab;

import java.util.ArrayDeque;
import java.util.Deque;

public final class Tree {
    private Tree() {}

    record Node(int depth) {}

    public static void main(String[] args) {
        int limit = args.length > 0 ? Integer.parseInt(args[0]) : 3;
        Deque<Node> open = new ArrayDeque<>();
        open.push(new Node(0));
        long seen = 0;
        while (!open.isEmpty()) {
            var node = open.pop();
            seen++;
            if (node.depth() < limit) {
                open.push(new Node(node.depth() + 1));
                open.push(new Node(node.depth() + 1));
            }
        }
        System.out.println(seen);
    }
}
