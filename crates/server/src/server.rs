//! The listener and its threads.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use hyper_util::rt::TokioTimer;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;

use crate::client::Client;
use crate::opening;
use crate::options::ServerOptions;
use crate::routes::router;
use crate::state::Shared;
use crate::token::Token;

/// Largest number of connections. A browser uses six; more wait until one of them ends.
const CONNECTIONS: usize = 256;

/// Longest time for the head of a request, and for an idle connection.
const HEAD_TIME: Duration = Duration::from_secs(15);

/// Pause before the next try when the system accepts no more connections.
const PAUSE: Duration = Duration::from_millis(50);

/// Reason for which a server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The port is not permitted, or another program uses it.
    #[error("cannot listen on 127.0.0.1:{port}")]
    Listen {
        /// The port; 0 for any.
        port: u16,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The system cannot start threads or has no random numbers.
    #[error("cannot start the server")]
    System(#[from] std::io::Error),
}

impl StartError {
    /// Returns advice for the user, if there is any.
    #[must_use]
    pub const fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Listen { .. } => Some("leave --port out: a free one is taken then"),
            Self::System(_) => None,
        }
    }
}

/// The port by which a program asks the system for one that is free.
const ANY_PORT: u16 = 0;

/// Answers a browser.
#[derive(Debug)]
pub struct Server;

impl Server {
    /// Starts to listen, on threads of its own.
    ///
    /// # Errors
    /// The port is taken, or the system has no threads or random numbers.
    pub fn start(options: ServerOptions) -> Result<Running, StartError> {
        let runtime =
            // Two threads pass messages on; each request has a thread of its own.
            Builder::new_multi_thread().worker_threads(2).thread_name("server").enable_all().build()?;
        let port = options.port.unwrap_or(ANY_PORT);
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, port)));
        let listener = listener.map_err(|source| StartError::Listen { port, source })?;
        let address = listener.local_addr()?;
        let token = Token::new()?;
        let shared = Arc::new(Shared::new(options, token, address.port())?);
        runtime.spawn(listen(
            listener,
            router(&shared),
            shared.limits.receiving_time,
        ));
        Ok(Running {
            address,
            token: shared.access.token.as_str().to_owned(),
            link: shared.link(),
            shared,
            runtime: Some(runtime),
        })
    }
}

/// A server that answers until this is dropped.
pub struct Running {
    /// Address that the server listens on.
    pub address: SocketAddr,
    /// Token that requests have to present.
    pub token: String,
    /// URL that opens the page in a browser.
    pub link: String,
    shared: Arc<Shared>,
    runtime: Option<Runtime>,
}

impl Running {
    /// Opens traces, extracts and folders in the background, as the page does with `open`.
    ///
    /// # Errors
    /// Too many traces are open. Other errors about a path are shown by the page.
    pub fn open(&self, paths: &[PathBuf]) -> Result<(), String> {
        for path in paths {
            opening::begin(&self.shared, path).map_err(|problem| problem.into_failure().message)?;
        }
        Ok(())
    }

    /// Returns the URL that opens the page at a finding of the first trace. The page goes there as
    /// soon as the rules have run.
    #[must_use]
    pub fn link_to_finding(&self, number: i64) -> String {
        format!("{};finding={number}", self.link)
    }

    /// Returns the URL that opens the page as a state says; [`state_of_link`] reads one.
    #[must_use]
    pub fn link_to_state(&self, state: &str) -> String {
        format!("{};{state}", self.link)
    }

    /// Returns the number of canceled requests: their client disconnected, or they exceeded the
    /// time limit.
    #[must_use]
    pub fn given_up(&self) -> u64 {
        self.shared.workers.given_up()
    }

    /// Returns the note for a user who ends the server during a recording, which continues.
    #[must_use]
    pub fn recording_note(&self) -> Option<&'static str> {
        self.shared.recording.as_ref()?.note()
    }

    /// True if the program was built with the page.
    #[must_use]
    pub fn has_page(&self) -> bool {
        crate::page::is_there()
    }

    /// Returns the note for a user who starts a server without the page.
    #[must_use]
    pub fn page_note(&self) -> Option<&'static str> {
        crate::page::note()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shared.ending.ask();
        self.shared.symbols.give_up();
        // It exists only after an upload.
        let _ = std::fs::remove_dir_all(&self.shared.uploads);
        // Pending computations have no client any more.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Accepts connections and answers them with the router, as long as the future is polled. A client
/// that takes longer than `receiving_time` to receive an answer is disconnected.
pub async fn listen(listener: TcpListener, router: Router, receiving_time: Duration) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    // A place is taken before a connection is accepted: excess connections wait in the system and
    // use no memory here.
    while let Ok(place) = places.clone().acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => {
                // Answers are written as a whole.
                let _ = stream.set_nodelay(true);
                let router = router.clone();
                tokio::spawn(async move {
                    serve(Client::new(stream, receiving_time), router).await;
                    drop(place);
                });
            }
            // The system is out of handles, or the client has already disconnected.
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// Answers the requests of one connection. When the client goes away, its pending answers are
/// dropped.
async fn serve(client: Client, router: Router) {
    let service =
        hyper::service::service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
            let mut router = router.clone();
            async move {
                let request: Request = request.map(Body::new);
                // A router is always ready.
                let answer: Result<_, Infallible> =
                    tower_service::Service::call(&mut router, request).await;
                answer
            }
        });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        // A longer head does not come from a browser.
        .max_buf_size(64 << 10)
        .serve_connection(client, service);
    // A client that disconnects cannot receive an error.
    let _ = connection.await;
}

/// Returns what a link of the page shows: the part after `#`, without the token of another server.
///
/// # Errors
/// Text that is not of a link of the page.
pub fn state_of_link(link: &str) -> Result<String, String> {
    let fragment = link.rsplit_once('#').map_or(link, |(_, fragment)| fragment);
    let parts = fragment.split(';').filter(|part| !part.starts_with("k="));
    let state = parts.collect::<Vec<_>>().join(";");
    let is_state = state.starts_with("v1;") && state.bytes().all(|byte| byte.is_ascii_graphic());
    if is_state {
        Ok(state)
    } else {
        Err("expected a link of the page, or the part of it from '#v1;' on".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::state_of_link;

    #[test]
    fn a_link_is_read_without_its_server_and_token() {
        let state = "v1;trace=9f2c;view=flame";
        for link in [
            state.to_owned(),
            format!("#{state}"),
            format!("http://127.0.0.1:4711/#{state}"),
            format!("http://127.0.0.1:4711/#k=secret;{state}"),
        ] {
            assert_eq!(state_of_link(&link).as_deref(), Ok(state), "{link}");
        }
        for link in [
            "",
            "v1",
            "#k=secret",
            "v2;trace=a",
            "v1;trace=a b",
            "v1;\u{1b}[0m",
        ] {
            assert!(state_of_link(link).is_err(), "{link}");
        }
    }
}
