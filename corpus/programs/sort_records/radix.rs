use std::env;

// Least significant digit first, 11 bits per pass.
fn radix_sort(keys: &mut Vec<u64>, spare: &mut Vec<u64>) {
    for pass in 0..6 {
        let shift = pass * 11;
        let mut count = [0usize; 2049];
        for k in keys.iter() {
            count[((k >> shift) & 2047) as usize + 1] += 1;
        }
        for i in 0..2048 {
            count[i + 1] += count[i];
        }
        for &k in keys.iter() {
            let digit = ((k >> shift) & 2047) as usize;
            spare[count[digit]] = k;
            count[digit] += 1;
        }
        std::mem::swap(keys, spare);
    }
}

fn main() {
    let n: usize = env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(1 << 20);
    let mut x: u64 = 1;
    let mut keys: Vec<u64> = (0..n)
        .map(|_| {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            x ^ (x >> 29)
        })
        .collect();
    let mut spare = vec![0u64; n];
    radix_sort(&mut keys, &mut spare);
    assert!(keys.windows(2).all(|w| w[0] <= w[1]));
    println!("{}", keys[n / 2]);
}
