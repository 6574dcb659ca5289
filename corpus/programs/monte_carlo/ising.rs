// Two-dimensional Ising model with the Metropolis rule.
use std::env;

struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn main() {
    let args: Vec<String> = env::args().collect();
    let n: usize = args[1].parse().expect("size");
    let sweeps: usize = args[2].parse().expect("sweeps");
    let beta = 0.44;
    let mut rng = Rng(88172645463325252);
    let mut spins = vec![1i32; n * n];
    for sweep in 0..sweeps {
        for _ in 0..n * n {
            let i = (rng.next() as usize) % (n * n);
            let (r, c) = (i / n, i % n);
            let sum = spins[((r + 1) % n) * n + c]
                + spins[((r + n - 1) % n) * n + c]
                + spins[r * n + (c + 1) % n]
                + spins[r * n + (c + n - 1) % n];
            let change = 2 * spins[i] * sum;
            if change <= 0 || rng.uniform() < (-beta * change as f64).exp() {
                spins[i] = -spins[i];
            }
        }
        if sweep % 100 == 0 {
            let m: i32 = spins.iter().sum();
            println!("{} {:.4}", sweep, m as f64 / (n * n) as f64);
        }
    }
}
