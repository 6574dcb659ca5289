the house
a house
