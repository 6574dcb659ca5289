BEGIN {
  srand(seed)
  for (i = 0; i < 200; i++) s[i] = (rand() < 0.5) ? -1 : 1
  for (t = 0; t < 20000; t++) {
    i = int(rand() * 200)
    l = s[(i + 199) % 200]; r = s[(i + 1) % 200]
    dE = 2 * s[i] * (l + r)
    if (dE <= 0 || rand() < exp(-dE)) s[i] = -s[i]
  }
  for (i = 0; i < 200; i++) m += s[i]
  print seed, m / 200
}
