//! Inclusive scan over a large vector, in two sweeps.
use std::env;

fn sweep(values: &mut [i64]) {
    let mut sum = 0;
    for v in values.iter_mut() {
        sum += *v;
        *v = sum;
    }
}

fn differences(values: &mut [i64]) {
    for i in (1..values.len()).rev() {
        values[i] -= values[i - 1];
    }
}

fn main() {
    let mut args = env::args().skip(1).map(|a| a.parse::<usize>().unwrap());
    let (n, rounds) = (args.next().unwrap(), args.next().unwrap());
    let mut values: Vec<i64> = (0..n as i64).map(|i| i % 5).collect();
    for _ in 0..rounds {
        sweep(&mut values);
        differences(&mut values);
    }
    println!("{}", values[n - 1]);
}
