//! The connection of a client, with a time limit for receiving an answer.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::Sleep;

/// A connection that ends when its client does not receive an answer in time.
///
/// The time starts when the system buffers no more of the answer for the client, and ends when it
/// has all of it. So a client that takes one byte per second cannot hold a connection longer than a
/// client that takes none.
pub(crate) struct Client {
    stream: TokioIo<TcpStream>,
    limit: Duration,
    until: Option<Pin<Box<Sleep>>>,
}

impl Client {
    pub(crate) fn new(stream: TcpStream, limit: Duration) -> Self {
        Self {
            stream: TokioIo::new(stream),
            limit,
            until: None,
        }
    }

    /// Returns the result of a write, or an error when the client has taken too long.
    fn in_time(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        // Something was taken, but the time goes on: it is for the whole answer.
        if written.is_ready() {
            return written;
        }
        // The time starts with the first byte that has to wait, not with the question.
        let until = self
            .until
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(self.limit)));
        match until.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl Read for Client {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl Write for Client {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.in_time(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.in_time(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Ready when all of an answer has been written: answers are passed to the connection as a
    /// whole.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // The next answer on this connection has its own time.
        self.until = None;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
