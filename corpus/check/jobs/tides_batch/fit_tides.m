levels = [1.2 1.9 2.4 1.8 1.1];
t = 0:numel(levels) - 1;
p = polyfit(t, levels, 2);
fprintf('%g %g %g\n', p);
