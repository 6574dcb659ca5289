function pk = sir_peak(beta, gamma)
S = 0.999; I = 0.001; pk = I;
for t = 1:1000
    dS = -beta * S * I;
    dI = beta * S * I - gamma * I;
    S = S + 0.1 * dS;
    I = I + 0.1 * dI;
    pk = max(pk, I);
end
end
