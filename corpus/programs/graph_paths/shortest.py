"""Dijkstra on a road-like grid with random travel times."""
import heapq
import random
import sys


def grid(side):
    rng = random.Random(5)
    edges = [[] for _ in range(side * side)]
    for v in range(side * side):
        for w in (v + 1 if (v + 1) % side else None, v + side if v + side < side * side else None):
            if w is not None:
                time = rng.uniform(1, 10)
                edges[v].append((w, time))
                edges[w].append((v, time))
    return edges


def dijkstra(edges, source):
    distance = [float("inf")] * len(edges)
    distance[source] = 0
    queue = [(0, source)]
    while queue:
        d, v = heapq.heappop(queue)
        if d > distance[v]:
            continue
        for w, time in edges[v]:
            if d + time < distance[w]:
                distance[w] = d + time
                heapq.heappush(queue, (d + time, w))
    return distance


side, sources = int(sys.argv[1]), int(sys.argv[2])
edges = grid(side)
for s in range(sources):
    print(max(dijkstra(edges, s * 37 % len(edges))))
