% SIR model, one run per row of the table
p = readtable(fullfile('input', 'params.csv'));
res = zeros(height(p), 1);
for k = 1:height(p)
    res(k) = sir_peak(p.beta(k), p.gamma(k));
end
writematrix(res, 'peaks.csv');
