import argparse
import csv
import pickle

from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score

parser = argparse.ArgumentParser()
parser.add_argument("--csv", required=True)
parser.add_argument("--trees", type=int, default=500)
parser.add_argument("--jobs", type=int, default=1)
parser.add_argument("--model", default="model.pkl")
opt = parser.parse_args()

X, y = [], []
with open(opt.csv, newline="") as fh:
    for row in csv.DictReader(fh):
        y.append(int(row.pop("voted")))
        X.append([float(v) for v in row.values()])

clf = RandomForestClassifier(n_estimators=opt.trees, n_jobs=opt.jobs, min_samples_leaf=5,
                             random_state=11)
scores = cross_val_score(clf, X, y, cv=5)
print("cv accuracy", scores)

clf.fit(X, y)
with open(opt.model, "wb") as fh:
    pickle.dump(clf, fh)
print("wrote", opt.model)
