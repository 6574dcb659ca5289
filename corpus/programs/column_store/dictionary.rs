// Dictionary and run-length encoding of a column, decoded again to check.
use std::collections::HashMap;

fn encode(column: &[String]) -> (Vec<&str>, Vec<(u32, u32)>) {
    let mut codes: HashMap<&str, u32> = HashMap::new();
    let mut words = Vec::new();
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for text in column {
        let next = codes.len() as u32;
        let code = *codes.entry(text.as_str()).or_insert_with(|| {
            words.push(text.as_str());
            next
        });
        match runs.last_mut() {
            Some((last, count)) if *last == code => *count += 1,
            _ => runs.push((code, 1)),
        }
    }
    (words, runs)
}

fn main() {
    let args: Vec<usize> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let (rows, rounds) = (args[0], args[1]);
    let towns = ["Ghent", "Lund", "Graz", "Porto", "Brno", "Turku", "Bergen"];
    for round in 0..rounds {
        let column: Vec<String> = (0..rows / 10)
            .map(|i| format!("{}-{}", towns[(i / (3 + round)) % 7], (i / 11) % 300))
            .collect();
        let (words, runs) = encode(&column);
        let decoded = runs.iter().flat_map(|&(c, n)| std::iter::repeat(words[c as usize]).take(n as usize));
        let same = decoded.zip(&column).filter(|(a, b)| a == b).count();
        println!("{round} {} words {} runs {same} equal", words.len(), runs.len());
    }
}
