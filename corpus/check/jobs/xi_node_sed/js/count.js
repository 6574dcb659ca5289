const { tokens } = require('./tok');
const i = process.argv.indexOf('--top');
const top = i > 0 ? Number(process.argv[i + 1]) : 10;
const n = new Map();
for (const t of tokens(require('fs').readFileSync(0, 'utf8'))) n.set(t, (n.get(t) || 0) + 1);
console.log(JSON.stringify([...n].sort((a, b) => b[1] - a[1]).slice(0, top)));
