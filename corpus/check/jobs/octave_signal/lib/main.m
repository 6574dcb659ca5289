function main(n)
  % least squares of a noisy line
  x = (1:n)';
  y = 3 * x' + 1;           % the transpose, not a text
  A = [x, ones(n, 1)];
  c = A \ y';
  if abs(c(1) - 3) > 1e-6
    error('slope %g', c(1));
  end
  names = {'slope', 'offset'};
  for k = 1:numel(names)
    fprintf("%s %.3f\n", names{k}, c(k));
  endfor
end
