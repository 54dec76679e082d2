//! Symbol servers.
//!
//! Requests to a server use only `GET`. Certificates are checked against those that the system
//! trusts, not against a built-in list: servers inside of companies have certificates of their own,
//! and company proxies substitute theirs. Proxies are taken from `HTTPS_PROXY`, `HTTP_PROXY`,
//! `ALL_PROXY` and `NO_PROXY`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use etwkit_base::lock::lock;
use etwkit_etl::bytes::front;
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig, TlsProvider};

use crate::Cancel;

/// Limits for downloads from a server.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Until there is a connection.
    pub connect: Duration,
    /// Maximum wait for the start of an answer, and between two pieces of it.
    pub silence: Duration,
    /// Until a file is complete.
    pub total: Duration,
    /// Minimum average rate in bytes per second, checked once a file has taken as long as
    /// `silence`. Each piece of a file may come in time and the file still never end, so slower
    /// servers are abandoned.
    pub slowest: u64,
    /// Bytes of a file, packed or not.
    pub bytes: u64,
}

impl Default for Limits {
    /// 10 seconds, 30 seconds, 30 minutes, 1 KiB a second, 8 GiB.
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            connect: seconds(10),
            silence: seconds(30),
            total: seconds(1800),
            slowest: 1 << 10,
            bytes: 8 << 30,
        }
    }
}

const REDIRECTS: u32 = 5;
const GIVEN_UP: &str = "the search was given up";
const BUFFER: usize = 1 << 17;
/// Servers that have compressed PDB files send them to clients that accept them.
const ACCEPT: &str = "application/msfz0, */*";

/// The failure of a download.
#[derive(Debug, Clone)]
pub(super) enum Refusal {
    /// It does not have it.
    Missing,
    /// This file could not be downloaded.
    Failed(String),
    /// The server cannot be reached: it is not contacted again in this run.
    Down(String),
}

/// Contacts servers and remembers for this run the files that they do not have.
pub(crate) struct Client {
    agent: Agent,
    limits: Limits,
    cancel: Cancel,
    missing: Mutex<BTreeSet<String>>,
    down: Mutex<BTreeMap<String, String>>,
    two_tier: Mutex<BTreeMap<String, bool>>,
}

impl Client {
    pub(crate) fn new(limits: Limits, cancel: Cancel) -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .unversioned_rustls_crypto_provider(provider)
            .root_certs(RootCerts::PlatformVerifier)
            .build();
        let config = Agent::config_builder()
            .tls_config(tls)
            .user_agent(concat!("etwkit/", env!("CARGO_PKG_VERSION")))
            .http_status_as_error(false)
            .max_redirects(REDIRECTS)
            .timeout_connect(Some(limits.connect))
            .timeout_resolve(Some(limits.connect))
            .timeout_recv_response(Some(limits.silence))
            .timeout_per_read(Some(limits.silence))
            .timeout_global(Some(limits.total))
            .build();
        let (missing, down, two_tier) = Default::default();
        Self {
            agent: config.new_agent(),
            limits,
            cancel,
            missing,
            down,
            two_tier,
        }
    }

    pub(super) const fn limits(&self) -> Limits {
        self.limits
    }

    /// True if the server keeps files one folder deeper. The server is asked once.
    pub(super) fn is_two_tier(&self, server: &str) -> bool {
        if let Some(known) = lock(&self.two_tier).get(server) {
            return *known;
        }
        let is_there = self
            .get(
                server,
                &["index2.txt".to_owned()],
                &mut std::io::sink(),
                &mut |_, _| {},
            )
            .is_ok();
        lock(&self.two_tier).insert(server.to_owned(), is_there);
        is_there
    }

    /// Downloads a file of a server into `out`. `received` is called with the number of received
    /// bytes and the total.
    pub(super) fn get(
        &self,
        server: &str,
        parts: &[String],
        out: &mut dyn Write,
        received: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<u64, Refusal> {
        if self.cancel.is_asked() {
            return Err(Refusal::Failed(GIVEN_UP.to_owned()));
        }
        // A server that does not answer would cost the time limit for each of hundreds of modules.
        if let Some(reason) = lock(&self.down).get(server) {
            return Err(Refusal::Down(reason.clone()));
        }
        let url = url(server, parts);
        if lock(&self.missing).contains(&url) {
            return Err(Refusal::Missing);
        }
        let mut answer = self.answer(&url);
        let is_failed = answer.as_ref().is_err_and(|(_, is_worth_it)| *is_worth_it);
        if is_failed && !self.cancel.is_asked() {
            answer = self.answer(&url);
        }
        let outcome = match answer {
            Ok(mut response) => self.body(&mut response, out, received),
            Err((refusal, _)) => Err(refusal),
        };
        match &outcome {
            Err(Refusal::Missing) => drop(lock(&self.missing).insert(url)),
            Err(Refusal::Down(reason)) => {
                drop(lock(&self.down).insert(server.to_owned(), reason.clone()));
            }
            _ => {}
        }
        outcome
    }

    /// The start of the answer; or the reason for the failure, and true if a retry makes sense.
    fn answer(&self, url: &str) -> Result<ureq::http::Response<ureq::Body>, (Refusal, bool)> {
        // A request by https is not redirected to a place without encryption.
        let is_https = url
            .get(..8)
            .is_some_and(|begin| begin.eq_ignore_ascii_case("https://"));
        let request = self
            .agent
            .get(url)
            .header("Accept", ACCEPT)
            .config()
            .https_only(is_https)
            .build();
        let response = request.call().map_err(|error| match error {
            ureq::Error::Timeout(_) => {
                (Refusal::Down(format!("no answer in time ({error})")), false)
            }
            ureq::Error::TooManyRedirects => (
                Refusal::Failed("it redirects without end".to_owned()),
                false,
            ),
            ureq::Error::BadUri(_) | ureq::Error::Http(_) | ureq::Error::RequireHttpsOnly(_) => {
                (Refusal::Failed(error.to_string()), false)
            }
            ureq::Error::Protocol(_) => (
                Refusal::Failed(format!("it does not speak HTTP: {error}")),
                false,
            ),
            error => (Refusal::Down(error.to_string()), true),
        })?;
        match response.status().as_u16() {
            200 => Ok(response),
            404 | 410 => Err((Refusal::Missing, false)),
            // Errors of the server itself are often temporary; errors that blame the request would
            // repeat.
            status => Err((
                Refusal::Failed(format!("the server answers {status}")),
                status >= 500,
            )),
        }
    }

    fn body(
        &self,
        response: &mut ureq::http::Response<ureq::Body>,
        out: &mut dyn Write,
        received: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<u64, Refusal> {
        let limit = self.limits.bytes;
        let total = response.body().content_length();
        if let Some(total) = total.filter(|total| *total > limit) {
            return Err(Refusal::Failed(format!(
                "{total} bytes are more than the limit of {limit}"
            )));
        }
        let mut reader = response.body_mut().with_config().limit(u64::MAX).reader();
        let mut buffer = vec![0; BUFFER];
        let mut len = 0_u64;
        let begin = Instant::now();
        loop {
            if self.cancel.is_asked() {
                return Err(Refusal::Failed(GIVEN_UP.to_owned()));
            }
            let piece = match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => front(&buffer, count),
                Err(error) => {
                    return Err(Refusal::Failed(format!(
                        "the file did not come as a whole: {error}"
                    )));
                }
            };
            len += piece.len() as u64;
            if len > limit {
                return Err(Refusal::Failed(format!(
                    "more bytes than the limit of {limit}"
                )));
            }
            let elapsed = begin.elapsed();
            let is_slow = elapsed > self.limits.silence
                && len < elapsed.as_secs().saturating_mul(self.limits.slowest);
            // If the last piece has arrived, a complete file need not be discarded for having been
            // slow.
            if is_slow && total != Some(len) {
                let seconds = elapsed.as_secs();
                return Err(Refusal::Down(format!(
                    "it is too slow: {len} bytes in {seconds} seconds"
                )));
            }
            out.write_all(piece)
                .map_err(|error| Refusal::Failed(format!("it cannot be kept: {error}")))?;
            received(len, total);
        }
        if total.is_some_and(|total| total != len) {
            return Err(Refusal::Failed(
                "the file did not come as a whole".to_owned(),
            ));
        }
        Ok(len)
    }
}

/// URL of a file. Its parts are percent-encoded, so none of their characters has a special meaning.
pub(super) fn url(server: &str, parts: &[String]) -> String {
    let mut url = server.to_owned();
    for part in parts {
        url.push('/');
        for byte in part.bytes() {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                url.push(char::from(byte));
            } else {
                url.push_str(&format!("%{byte:02X}"));
            }
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_mean_nothing_in_a_url() {
        let parts = ["ü #?%.pdb".to_owned(), "A&b=c".to_owned()];
        assert_eq!(
            url("https://x.example/s", &parts),
            "https://x.example/s/%C3%BC%20%23%3F%25.pdb/A%26b%3Dc"
        );
    }
}
