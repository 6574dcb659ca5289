function run_all(n)
% RUN_ALL  sums with n workers
p = parpool('local', n);
s = zeros(1, 10);
parfor k = 1:10
    s(k) = sum(primes(k * 100));
end
fprintf('%d\n', s');
delete(p);
end
