# explicit shallow-ice step on a bed of constant slope
{ h[NR - 1] = $2; n = NR }
END {
    dt = 0.01
    for (t = 0; t < years / dt; t++) {
        for (i = 0; i < n - 1; i++) {
            s = 0.1 + (h[i] - h[i + 1]) / 100
            hm = (h[i] + h[i + 1]) / 2
            q[i] = 2e-5 * hm ^ 3 * s
        }
        q[n - 1] = 0
        for (i = 0; i < n; i++) {
            smb = 1.5 - 0.06 * i
            h[i] += dt * (smb - (q[i] - (i > 0 ? q[i - 1] : 0)) / 10)
            if (h[i] < 0) h[i] = 0
        }
    }
    for (i = 0; i < n; i++) printf "%d %.4f\n", i, h[i]
}
