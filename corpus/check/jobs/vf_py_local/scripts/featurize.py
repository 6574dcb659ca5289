def embed(text):
    return [ord(c) for c in text]
