import random
import sys
from dataclasses import dataclass


@dataclass
class Parcel:
    city: str
    weight: float
    number: int


random.seed(0)
cities = ["Ulm", "Kiel", "Bonn", "Jena", "Trier"]
rounds = int(sys.argv[2])
parcels = [Parcel(random.choice(cities), random.random() * 30, i) for i in range(int(sys.argv[1]))]
for k in range(rounds):
    parcels.sort(key=lambda p: p.number * (k + 3) % 1009)
    parcels.sort(key=lambda p: (p.city, round(p.weight, 1)))
print(parcels[0], parcels[-1])
