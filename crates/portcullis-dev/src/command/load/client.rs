//! A connection to the daemon: as little HTTP as it takes, so that the load and not the tool is what is measured.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A connection that is kept open.
pub(super) struct LoadClient {
    stream: TcpStream,
    address: SocketAddr,
    token: String,
    buffer: Vec<u8>,
    request: Vec<u8>,
}

/// What was answered.
pub(super) struct LoadReply<'a> {
    pub(super) status: u16,
    pub(super) body: &'a str,
}

impl LoadClient {
    pub(super) async fn connect(address: SocketAddr, token: &str) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (token, buffer) = (token.to_owned(), Vec::with_capacity(16 * 1024));
        Ok(Self { stream, address, token, buffer, request: Vec::new() })
    }

    /// Sends a request and waits for the answer.
    pub(super) async fn post(&mut self, path: &str, body: &str) -> Result<LoadReply<'_>> {
        self.send("POST", path, body).await
    }

    /// Asks for something and waits for it.
    pub(super) async fn get(&mut self, path: &str) -> Result<LoadReply<'_>> {
        self.send("GET", path, "").await
    }

    async fn send(&mut self, method: &str, path: &str, body: &str) -> Result<LoadReply<'_>> {
        self.request.clear();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.address,
            self.token,
            body.len()
        );
        self.request.extend_from_slice(head.as_bytes());
        self.request.extend_from_slice(body.as_bytes());
        self.stream.write_all(&self.request).await?;
        self.buffer.clear();
        loop {
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                bail!("the daemon closed the connection");
            }
            if let Some((status, start, end)) = whole(&self.buffer)? {
                let body = self.buffer.get(start..end).unwrap_or_default();
                return Ok(LoadReply { status, body: std::str::from_utf8(body)? });
            }
        }
    }
}

/// Finds the status and the body of an answer once it is all there.
fn whole(buffer: &[u8]) -> Result<Option<(u16, usize, usize)>> {
    let Some(end_of_head) = buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n") else { return Ok(None) };
    let head = std::str::from_utf8(buffer.get(..end_of_head).unwrap_or_default())?;
    let status = head.get(9..12).context("the answer has no status")?.parse()?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>())
    });
    let length = length.context("the answer has no length")??;
    let start = end_of_head + 4;
    Ok((buffer.len() >= start + length).then_some((status, start, start + length)))
}
