fn f(x: f64) -> f64 {
    x.powi(5) - 3.0 * x - 1.0
}

fn main() {
    let mut roots = Vec::new();
    for start in 0..200_000 {
        let (mut low, mut high) = (1.0, 2.0 + start as f64 * 1e-6);
        loop {
            let middle = 0.5 * (low + high);
            if f(low) * f(middle) <= 0.0 {
                high = middle;
            } else {
                low = middle;
            }
            if high - low < 1e-13 {
                break;
            }
        }
        roots.push(low);
    }
    println!("{}", roots.iter().sum::<f64>() / roots.len() as f64);
}
