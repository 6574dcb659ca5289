% power of a simple signal
t = linspace(0, 1, 256);
x = sin(2 * pi * 5 * t) + 0.2 * randn(size(t);
p = abs(fft(x)) .^ 2;
printf("%g\n", max(p(2:128)));
