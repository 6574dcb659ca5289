% integrates the Oregonator for a list of f at one eps
args = argv();
eps1 = str2double(args{1});
target = args{2};
q = 8e-4;
fs = 0.5:0.25:2.0;
fid = fopen(target, "w");
for f = fs
  rhs = @(x, t) [ (x(1) * (1 - x(1)) - f * x(2) * (x(1) - q) / (x(1) + q)) / eps1;
                  x(1) - x(2) ];
  t = linspace(0, 60, 2000);
  x = lsode(rhs, [0.1; 0.1], t);
  late = x(1000:end, 1);
  fprintf(fid, "%g,%g,%g,%g\n", eps1, f, min(late), max(late));
end
fclose(fid);
