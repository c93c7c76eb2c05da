// SPDX-License-Identifier: MIT
//! `embednfs-memory ADDRESS:PORT`: NFSv4.1 with an empty file system in memory.

use embednfs::{MemFs, NfsServer};

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let Some(address) = std::env::args().nth(1) else {
        eprintln!("usage: embednfs-memory ADDRESS:PORT");
        std::process::exit(2);
    };
    NfsServer::new(MemFs::new()).listen(&address).await
}
