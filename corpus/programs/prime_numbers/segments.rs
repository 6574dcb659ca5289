// Segmented sieve: only a window of 128 KiB is held at a time.
use std::env;

fn main() {
    let n: usize = env::args().nth(1).unwrap().parse().unwrap();
    let root = (n as f64).sqrt() as usize + 1;
    let mut small = vec![true; root + 1];
    let mut primes = Vec::new();
    for p in 2..=root {
        if small[p] {
            primes.push(p);
            let mut q = p * p;
            while q <= root {
                small[q] = false;
                q += p;
            }
        }
    }
    let window = 1 << 17;
    let mut count = 0usize;
    let mut low = 2;
    let mut flags = vec![true; window];
    while low <= n {
        flags.iter_mut().for_each(|f| *f = true);
        for &p in &primes {
            let first = ((low + p - 1) / p).max(p) * p;
            let mut q = first;
            while q < low + window {
                flags[q - low] = false;
                q += p;
            }
        }
        count += flags[..window.min(n + 1 - low)].iter().filter(|f| **f).count();
        low += window;
    }
    println!("{count}");
}
