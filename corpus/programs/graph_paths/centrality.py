import sys

import networkx as nx

people, pivots = int(sys.argv[1]), int(sys.argv[2])
friends = nx.barabasi_albert_graph(people, 4, seed=1)
print(friends)
scores = nx.betweenness_centrality(friends, k=pivots, seed=2)
for person in sorted(scores, key=scores.get)[-5:]:
    print(person, round(scores[person], 5))
