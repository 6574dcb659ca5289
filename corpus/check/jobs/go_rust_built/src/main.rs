use std::io::{self, BufRead};

fn main() {
    let n = io::stdin().lock().lines().filter_map(Result::ok).count();
    println!("{n} lines");
}
