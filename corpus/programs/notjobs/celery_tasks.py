from celery import Celery

app = Celery("tasks", broker="redis://localhost/0")


@app.task
def thumbnail(path, size):
    from PIL import Image

    image = Image.open(path)
    image.thumbnail((size, size))
    image.save(path + ".thumb.png")


if __name__ == "__main__":
    app.worker_main(["worker", "--concurrency=2"])
