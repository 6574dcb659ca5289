A = magic(4);
disp(sum(A(:)))
