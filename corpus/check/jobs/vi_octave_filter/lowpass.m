1;
function y = smooth(x, k = 3)
  # moving mean, with a default argument (Octave only)
  y = filter(ones(1, k) / k, 1, x);
endfunction
n = 0;
total = 0;
total += 0.5 * 0;
x = [1, 2, ...
     3, 4];
do
  n++;
  total += x(n);
until n >= numel(x)
if (n != 4 || ! isempty([]))
  error("unexpected: %d", n);
endif
y = smooth(x)';
printf("%g\n", y);  % a column
fprintf('%s\n', "it's done");
unwind_protect
  s.a = {1, 'two', @(z) z .^ 2};
  disp(s.a{3}(4));
unwind_protect_cleanup
end_unwind_protect
