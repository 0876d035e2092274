//! Kohort in the browser: `kohort studio` serves a local page that goes from a file to a verified release.
//!
//! The policy file stays the truth: whatever the page does is a change to it and one command, both shown. Pages are
//! rendered here, by the HTML and SVG code of the reports; plain forms work without script, and one small module
//! (`assets/studio.js`) replaces parts of a page and follows progress.
//!
//! # Guarantee
//! The server listens on 127.0.0.1 only. It answers one browser, which opened a single-use address, and it reads and
//! writes one folder. No value of the data is in an address, a log or a title.

mod answer;
mod archive;
mod closer;
mod count;
mod desktop;
mod folder;
mod guard;
mod history;
mod job;
mod page;
mod pages;
mod policy_text;
mod results;
mod routes;
mod session;
mod studio;
mod upload;

pub use desktop::open_address;
use folder::Folder;
use kohort_core::{Error, Result};
use session::Session;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use studio::Studio;

/// A studio that is ready to serve.
pub struct Server {
    listener: TcpListener,
    session: Arc<Session>,
    studio: Arc<Studio>,
}

/// Makes new addresses for a studio that is serving.
#[derive(Clone)]
pub struct Addresses(Arc<Session>);

impl Addresses {
    /// Makes an address that opens the studio once. An older one that nobody used is void.
    pub fn new_address(&self) -> Result<String> {
        self.0.new_address()
    }
}

impl Server {
    /// Prepares a studio in a folder, on this port of 127.0.0.1 or on a free one.
    pub fn bind(folder: &Path, port: Option<u16>, threads: usize) -> Result<Server> {
        let folder = Folder::open(folder)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).map_err(|e| match port {
            Some(port) => Error::yours(format!(
                "port {port} cannot be used: {e}. Choose another with --port, or leave it out for a free one."
            )),
            None => Error::machine(format!("no port of this computer can be used: {e}.")),
        })?;
        let local = listener.local_addr().map_err(|e| Error::machine(format!("the port is unknown: {e}.")))?;
        let session = Arc::new(Session::new(local.port())?);
        Ok(Server { listener, session, studio: Arc::new(Studio::new(folder, threads)) })
    }

    /// Returns whether this studio may write. It may not while another one works in the same folder.
    pub fn may_write(&self) -> bool {
        self.studio.folder.may_write()
    }

    /// Makes addresses for people who lost theirs.
    pub fn addresses(&self) -> Addresses {
        Addresses(Arc::clone(&self.session))
    }

    /// Serves until the process ends.
    pub fn serve(self) -> Result<()> {
        let broken = |e: std::io::Error| Error::machine(format!("the server stopped: {e}."));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().map_err(broken)?;
        runtime.block_on(async {
            self.listener.set_nonblocking(true).map_err(broken)?;
            let listener = tokio::net::TcpListener::from_std(self.listener).map_err(broken)?;
            axum::serve(listener, routes::routes(self.studio, self.session)).await.map_err(broken)
        })
    }
}
