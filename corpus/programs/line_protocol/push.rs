use std::env;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

fn main() -> std::io::Result<()> {
    let args: Vec<String> = env::args().collect();
    let blocks: usize = args[2].parse().expect("a number of blocks");
    let mut stream = TcpStream::connect(&args[1])?;
    let mut answers = BufReader::new(stream.try_clone()?);
    let block: Vec<u8> = (0..1_000_000u32).map(|i| (i.wrapping_mul(2654435761) >> 24) as u8).collect();
    let mut line = String::new();
    for n in 0..blocks {
        writeln!(stream, "PUT {}", block.len())?;
        stream.write_all(&block)?;
        line.clear();
        answers.read_line(&mut line)?;
        if line.trim() != "OK" {
            eprintln!("block {n}: {line}");
        }
    }
    println!("{blocks} blocks sent");
    Ok(())
}
