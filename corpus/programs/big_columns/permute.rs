fn main() {
    let args: Vec<usize> = std::env::args().skip(1).map(|a| a.parse().expect("numbers")).collect();
    let (n, rounds) = (args[0], args[1]);
    let mut x: Vec<f64> = (0..n).map(|i| (i % 1000) as f64).collect();
    let mut y = vec![0.0; n];
    let step = 7_368_787 % n | 1;
    for round in 0..rounds {
        let mut at = round;
        for slot in y.iter_mut() {
            *slot = x[at] + 1.0;
            at += step;
            if at >= n {
                at -= n;
            }
        }
        std::mem::swap(&mut x, &mut y);
    }
    println!("{}", x.iter().sum::<f64>() / n as f64);
}
