function y = decay(n)
% DECAY exponential decay, n points
    t = linspace(0, 5, n)';
    y = exp(-t);
    if any(isnan(y)), error('decay:nan', 'it''s broken'); end
    fprintf('%.4f\n', y(end));
end
