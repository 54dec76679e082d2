//! Access control, and the security headers of every answer.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::problem::Problem;
use crate::state::Shared;
use crate::token::Token;

/// Scripts, styles and answers come only from this server, and no page may frame this one.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// Headers of every answer.
const HEADERS: [(HeaderName, &str); 4] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// Paths below this need the token.
const API: &str = "/api/";

/// Admits requests that came through a link of this server.
pub(crate) async fn guard(
    State(shared): State<Arc<Shared>>,
    request: Request,
    next: Next,
) -> Response {
    let is_api = request.uri().path().starts_with(API);
    let mut response = match shared.access.check(request.headers(), is_api) {
        Ok(()) => next.run(request).await,
        Err(refused) => Problem::from(refused).into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // Answers of the interface contain trace data and must not stay in a cache of the browser;
    // files of the page set their own lifetime.
    if is_api || !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

/// Access control for requests to a server on the loopback address.
#[derive(Debug, Clone)]
pub struct AccessGuard {
    /// The token that requests have to present.
    pub token: Token,
    /// The port that the server listens on.
    pub port: u16,
}

/// Reason for refusing a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It names another server.
    #[error("this server answers to its own address alone")]
    Host,
    /// A page of another server sent it.
    #[error("this server answers to its own page alone")]
    Origin,
    /// It does not present the token.
    #[error("the token is missing or wrong")]
    Token,
}

impl AccessGuard {
    /// Checks that a request names this server, was not sent by a page of another server, and
    /// presents the token if one is needed.
    ///
    /// # Errors
    /// The first check that fails.
    pub fn check(&self, headers: &HeaderMap, needs_token: bool) -> Result<(), Refused> {
        // Any name can be made to resolve to the loopback address, so only the names that the link
        // can have are accepted.
        let hosts = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{}", self.port));
        let mut named = headers.get_all(header::HOST).iter();
        let is_known = named
            .next()
            .is_some_and(|host| hosts.iter().any(|known| host == known.as_str()));
        // A request with two host names is rejected: a proxy and this server could each trust a
        // different one.
        if !is_known || named.next().is_some() {
            return Err(Refused::Host);
        }
        // Browsers omit the header if a page calls its own server, so a missing one is no reason
        // for rejection; the token is needed anyway.
        if let Some(origin) = headers.get(header::ORIGIN) {
            let is_own = hosts
                .iter()
                .any(|host| origin.as_bytes() == format!("http://{host}").as_bytes());
            if !is_own {
                return Err(Refused::Origin);
            }
        }
        let given = headers
            .get(header::AUTHORIZATION)
            .map(HeaderValue::as_bytes);
        let has_token = given.is_some_and(|given| self.token.is_in(given));
        if needs_token && !has_token {
            return Err(Refused::Token);
        }
        Ok(())
    }
}
