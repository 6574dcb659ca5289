todo = [1]
done = set()
while todo and len(done) < 5:
    x = todo.pop()
    done.add(x)
    todo.push(x * 2)
print(done)
