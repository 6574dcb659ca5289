use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;

const O_SYNC: i32 = 0o4010000;

/// One file per record for the digital library, which picks them up at once.
fn main() -> std::io::Result<()> {
    let mut args = std::env::args().skip(1);
    let source = args.next().expect("a catalog");
    let most: usize = args.next().and_then(|n| n.parse().ok()).unwrap_or(100);
    fs::create_dir_all("records")?;
    let mut count = 0;
    for line in BufReader::new(File::open(source)?).lines() {
        let line = line?;
        let Some(id) = line.split("id=\"").nth(1).and_then(|rest| rest.split('"').next()) else {
            continue;
        };
        let mut out = OpenOptions::new()
            .write(true)
            .create(true)
            .custom_flags(O_SYNC)
            .open(format!("records/{id}.xml"))?;
        out.write_all(b"<?xml version=\"1.0\"?>\n")?;
        out.write_all(line.as_bytes())?;
        count += 1;
        if count == most {
            break;
        }
    }
    println!("{count} records");
    Ok(())
}
