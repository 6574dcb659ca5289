function y = grow(n)
y = zeros(1, n);
for k = 1:n
    if mod(k, 2) == 0
        y(k) = k^2;
end
disp(sum(y))
end
