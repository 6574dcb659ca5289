import redis

queue = redis.Redis()
done = 0
while True:
    job = queue.lpop("thumbnails")
    if job is None:
        break
    path, size = job.decode().rsplit(":", 1)
    with open(path, "rb") as f:
        done += len(f.read(int(size)))
print(done)
