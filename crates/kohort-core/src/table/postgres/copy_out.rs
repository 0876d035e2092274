//! The rows of a statement as a stream of text, in a thread that owns the connection.

use super::address::Address;
use super::connect::cancel;
use super::failure::broken;
use postgres::Client;
use sha2::{Digest, Sha256};
use std::io::{BufRead, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// About so many bytes go to the reader at a time, and so many pieces wait for it.
const PIECE: usize = 1 << 18;
const WAITING: usize = 8;

/// Bytes, or the end of them.
type Piece = std::io::Result<Option<Vec<u8>>>;

/// The hash and the size of all rows, as the first whole pass read them.
#[derive(Debug, Default)]
pub(super) struct FirstPass(Mutex<Option<([u8; 32], u64)>>);

impl FirstPass {
    /// The size of all rows, if a whole pass has read them.
    pub(super) fn size(&self) -> Option<u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).map(|(_, size)| size)
    }

    /// Refuses a pass that read anything else than the first one.
    fn check(&self, pass: ([u8; 32], u64)) -> std::io::Result<()> {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match *first.get_or_insert(pass) == pass {
            true => Ok(()),
            false => Err(std::io::Error::other(
                "its rows came in another order or with other values than at first. Use a query that ends with ORDER BY \
                 and a unique key, and no function whose result changes",
            )),
        }
    }
}

/// Runs `COPY … TO STDOUT` and hands over what it sends. `first`: all passes must read the same bytes.
pub(super) fn stream(
    client: Client,
    address: Address,
    statement: String,
    first: Option<Arc<FirstPass>>,
) -> std::io::Result<impl Read + Send> {
    let (send, receive) = sync_channel::<Piece>(WAITING);
    std::thread::Builder::new().name("kohort-copy".into()).spawn(move || {
        let mut client = client;
        let token = client.cancel_token();
        match copy(&mut client, &statement, first.as_deref(), &send) {
            Ok(Wanted::All) => {}
            Ok(Wanted::NoMore) => cancel(&address, &token),
            // Whoever reads may be gone.
            Err(error) => drop(send.send(Err(error))),
        }
    })?;
    Ok(Pieces { receive, piece: Vec::new(), given: 0, ended: false, failed: None })
}

enum Wanted {
    All,
    /// The reader is gone.
    NoMore,
}

fn copy(
    client: &mut Client,
    statement: &str,
    first: Option<&FirstPass>,
    send: &SyncSender<Piece>,
) -> std::io::Result<Wanted> {
    let mut rows = client.copy_out(statement).map_err(|error| broken(&error))?;
    let (mut hasher, mut size) = (Sha256::new(), 0);
    let mut piece = Vec::with_capacity(PIECE);
    loop {
        let bytes = rows.fill_buf().map_err(|error| in_stream(&error))?;
        let got = bytes.len();
        hasher.update(bytes);
        size += got as u64;
        piece.extend_from_slice(bytes);
        rows.consume(got);
        if let Some(first) = first.filter(|_| got == 0) {
            first.check((hasher.finalize_reset().into(), size))?;
        }
        if (got == 0 || piece.len() >= PIECE) && !piece.is_empty() {
            let full = std::mem::replace(&mut piece, Vec::with_capacity(PIECE));
            if send.send(Ok(Some(full))).is_err() {
                return Ok(Wanted::NoMore);
            }
        }
        if got == 0 {
            let is_gone = send.send(Ok(None)).is_err();
            return Ok(if is_gone { Wanted::NoMore } else { Wanted::All });
        }
    }
}

/// An error of the server that comes in the middle of the rows.
pub(super) fn in_stream(error: &std::io::Error) -> std::io::Error {
    match error.get_ref().and_then(|own| own.downcast_ref::<postgres::Error>()) {
        Some(own) => broken(own),
        None => std::io::Error::other("the connection failed"),
    }
}

/// The pieces that a thread sends, as one stream. A thread that ends early is an error, never the end of the rows.
struct Pieces {
    receive: Receiver<Piece>,
    piece: Vec<u8>,
    given: usize,
    /// True if everything was sent.
    ended: bool,
    failed: Option<String>,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if let Some(what) = &self.failed {
            return Err(std::io::Error::other(what.clone()));
        }
        while self.given == self.piece.len() && !buffer.is_empty() {
            match self.receive.recv() {
                Ok(Ok(Some(piece))) => (self.piece, self.given) = (piece, 0),
                Ok(Ok(None)) => self.ended = true,
                Ok(Err(error)) => {
                    self.failed = Some(error.to_string());
                    return Err(error);
                }
                Err(_) if self.ended => return Ok(0),
                Err(_) => return Err(std::io::Error::other("the rows were cut off")),
            }
        }
        let got = buffer.len().min(self.piece.len() - self.given);
        buffer[..got].copy_from_slice(&self.piece[self.given..self.given + got]);
        self.given += got;
        Ok(got)
    }
}
