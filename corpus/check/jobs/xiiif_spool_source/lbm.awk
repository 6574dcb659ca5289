BEGIN {
    N = 81
    for (i = 0; i < N; i++) { f0[i] = fp[i] = fm[i] = 0 }
    f0[40] = 4 / 6; fp[40] = fm[40] = 1 / 6
    for (t = 0; t < steps; t++) {
        for (i = 0; i < N; i++) {
            r = f0[i] + fp[i] + fm[i]
            f0[i] += (4 / 6 * r - f0[i]) / tau
            fp[i] += (r / 6 - fp[i]) / tau
            fm[i] += (r / 6 - fm[i]) / tau
        }
        for (i = N - 1; i > 0; i--) fp[i] = fp[i - 1]
        for (i = 0; i < N - 1; i++) fm[i] = fm[i + 1]
        fp[0] = fm[0]; fm[N - 1] = fp[N - 1]
    }
    for (i = 0; i < N; i++) printf "%d %.6f\n", i - 40, f0[i] + fp[i] + fm[i]
}
