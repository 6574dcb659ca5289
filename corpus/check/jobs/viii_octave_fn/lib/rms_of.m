function r = rms_of (x)
  % x' is the transpose, 'x' is a string
  r = sqrt (x * x' / numel (x));
  if (! isscalar (r)) error ("no scalar"); endif
end
