use std::collections::HashSet;
use std::net::UdpSocket;
use std::time::Duration;

fn main() -> std::io::Result<()> {
    let socket = UdpSocket::bind("0.0.0.0:4444")?;
    socket.set_read_timeout(Some(Duration::from_secs(1)))?;
    let mut peers: HashSet<std::net::SocketAddr> = HashSet::new();
    let mut buffer = [0u8; 512];
    loop {
        if let Ok((n, from)) = socket.recv_from(&mut buffer) {
            peers.insert(from);
            println!("{from}: {n} bytes");
        }
        for peer in &peers {
            socket.send_to(b"hello", peer)?;
        }
    }
}
