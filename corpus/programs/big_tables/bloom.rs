use std::env;

// A Bloom filter of visited addresses.
struct Bloom {
    bits: Vec<u64>,
    mask: u64,
}

impl Bloom {
    fn new(log2: u32) -> Self {
        Bloom { bits: vec![0; 1 << (log2 - 6)], mask: (1 << log2) - 1 }
    }
    fn insert(&mut self, key: u64) -> bool {
        let mut h = key;
        let mut known = true;
        for _ in 0..4 {
            h = (h ^ (h >> 31)).wrapping_mul(0x7FB5D329728EA185);
            let bit = (h ^ (h >> 27)) & self.mask;
            let word = &mut self.bits[(bit >> 6) as usize];
            known &= *word >> (bit & 63) & 1 == 1;
            *word |= 1 << (bit & 63);
        }
        known
    }
}

fn main() {
    let args: Vec<u64> = env::args().skip(1).map(|a| a.parse().expect("a number")).collect();
    let mut filter = Bloom::new(args[0] as u32);
    let mut again = 0u64;
    for i in 0..args[1] {
        if filter.insert(i * i % (args[1] * 2 / 3)) {
            again += 1;
        }
    }
    println!("{again} seen before");
}
