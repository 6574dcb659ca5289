exports.tokens = (s) => s.match(/[a-z]+/g) || [];
