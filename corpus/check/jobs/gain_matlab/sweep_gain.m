gains = 0.1:0.1:2;
for k = 1:numel(gains)
    y(k) = 1 / (1 + gains(k));
end
save('gain.mat', 'y')
