from flask import Flask, jsonify

app = Flask(__name__)


@app.route("/square/<int:n>")
def square(n):
    return jsonify(n * n)


if __name__ == "__main__":
    with app.test_client() as client:
        answers = [client.get(f"/square/{n}").get_json() for n in range(2000)]
    assert answers == [n * n for n in range(2000)]
    print("all good")
