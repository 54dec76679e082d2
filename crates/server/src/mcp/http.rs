//! HTTP on the loopback address, protected by the same guard as the page.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::mcp::handler::Handler;
use crate::mcp::shared::Shared;
use crate::{AccessGuard, Limits, Refused, Token, listen};

/// Environment variable with the token, for clients whose settings name a fixed one.
const TOKEN: &str = "ETWKIT_MCP_TOKEN";

/// Smallest number of characters in a token that the user chooses.
const LEAST: usize = 24;

/// Largest message of a client, in bytes.
const MAX_BODY: usize = 1 << 20;

/// Starts to answer. Returns the address and the token.
pub(crate) fn start(
    runtime: &Runtime,
    shared: &Arc<Shared>,
    address: SocketAddr,
) -> Result<(SocketAddr, String)> {
    ensure!(
        address.ip().is_loopback(),
        "--http {address}: expected an address of this machine alone, such as 127.0.0.1:8765; a program that can \
         reach the address can read all of your traces"
    );
    let token = token(std::env::var(TOKEN).ok())?;
    // Bound before the address is printed: with port 0 the system chooses one, and a second server
    // is rejected here and not later.
    let listener = runtime.block_on(TcpListener::bind(address));
    let listener = listener.with_context(|| format!("cannot listen at {address}"))?;
    let address = listener.local_addr()?;
    let access = AccessGuard {
        token: token.clone(),
        port: address.port(),
    };
    let receiving_time = Limits::default().receiving_time;
    runtime.spawn(listen(listener, router(shared, access), receiving_time));
    Ok((address, token.as_str().to_owned()))
}

fn token(chosen: Option<String>) -> Result<Token> {
    let Some(chosen) = chosen.filter(|chosen| !chosen.is_empty()) else {
        return Ok(Token::new()?);
    };
    // Visible characters only: others are not allowed in a header, so no request could ever contain
    // them.
    let is_plain = chosen.len() >= LEAST && chosen.chars().all(|c| c.is_ascii_graphic());
    ensure!(
        is_plain,
        "{TOKEN}: expected {LEAST} or more visible ASCII characters, found {}",
        chosen.len()
    );
    Ok(Token::chosen(chosen))
}

fn router(shared: &Arc<Shared>, access: AccessGuard) -> Router {
    let handler = Handler(shared.clone());
    let config = StreamableHttpServerConfig::default().with_max_request_body_bytes(MAX_BODY);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(handler.clone()), sessions, config);
    Router::new()
        .nest_service("/mcp", service)
        .layer(from_fn_with_state(Arc::new(access), guard))
}

/// Admits requests that name this server, do not come from another page, and present the token.
async fn guard(State(access): State<Arc<AccessGuard>>, request: Request, next: Next) -> Response {
    // Checked before the protocol: a client without the token learns nothing, not even the names of
    // the tools.
    let mut response = match access.check(request.headers(), true) {
        Ok(()) => next.run(request).await,
        Err(Refused::Token) => (
            StatusCode::UNAUTHORIZED,
            [(header::WWW_AUTHENTICATE, "Bearer")],
            Refused::Token.to_string(),
        )
            .into_response(),
        Err(refused) => (StatusCode::FORBIDDEN, refused.to_string()).into_response(),
    };
    // Answers are about traces, and must not stay in a cache of a browser or proxy.
    let no_store = header::HeaderValue::from_static("no-store");
    response
        .headers_mut()
        .entry(header::CACHE_CONTROL)
        .or_insert(no_store);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_long_or_made() {
        assert_eq!(
            token(Some("x".repeat(24))).unwrap().as_str(),
            "x".repeat(24)
        );
        let error = token(Some("short".to_owned())).unwrap_err().to_string();
        assert_eq!(
            error,
            "ETWKIT_MCP_TOKEN: expected 24 or more visible ASCII characters, found 5"
        );
        assert!(token(Some(format!("{}\n", "x".repeat(30)))).is_err());
        assert_ne!(
            token(None).unwrap().as_str(),
            token(Some(String::new())).unwrap().as_str()
        );
    }
}
