from flask import Flask, jsonify, request

app = Flask(__name__)
scores = {}


@app.route("/score/<name>", methods=["GET", "POST"])
def score(name):
    if request.method == "POST":
        scores[name] = scores.get(name, 0) + request.json["points"]
    return jsonify(name=name, points=scores.get(name, 0))


if __name__ == "__main__":
    app.run(host="0.0.0.0", port=5000)
