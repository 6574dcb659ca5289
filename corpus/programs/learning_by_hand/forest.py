import argparse

from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score

parser = argparse.ArgumentParser()
parser.add_argument("--trees", type=int, default=100)
parser.add_argument("--rows", type=int, default=2000)
args = parser.parse_args()

X, y = make_classification(n_samples=args.rows, n_features=20, n_informative=8, random_state=0)
model = RandomForestClassifier(n_estimators=args.trees, random_state=0)
print(cross_val_score(model, X, y, cv=3))
