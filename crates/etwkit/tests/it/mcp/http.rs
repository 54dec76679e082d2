//! The server over HTTP: who is let in, and that a client of others gets the same answers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::json;

use super::{answer, call, driven};
use crate::support::trace;

/// A server, its address and its token.
struct Serving {
    program: Child,
    address: String,
    token: String,
}

impl Serving {
    fn start(cache: &Path, address: &str) -> Self {
        let mut program = Command::new(env!("CARGO_BIN_EXE_etwkit"))
            .args(["mcp", "--http", address])
            .env("ETWKIT_CACHE", cache)
            .env_remove("ETWKIT_MCP_TOKEN")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
        let mut line = || lines.next().unwrap().unwrap();
        let address = line().split('/').nth(2).unwrap().to_owned();
        let token = line().rsplit(' ').next().unwrap().to_owned();
        Self {
            program,
            address,
            token,
        }
    }

    /// The status of a request with these headers.
    fn status(&self, headers: &[(&str, &str)]) -> u16 {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
        let body = body.to_string();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let mut head = format!(
            "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             Connection: close\r\nContent-Length: {}\r\n",
            body.len()
        );
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        stream
            .write_all(format!("{head}\r\n{body}").as_bytes())
            .unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        std::str::from_utf8(&answer[9..]).unwrap().parse().unwrap()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

#[test]
fn only_who_knows_the_token_and_names_the_server_is_let_in() {
    let folder = tempfile::tempdir().unwrap();
    let server = Serving::start(folder.path(), "127.0.0.1:0");
    let bearer = format!("Bearer {}", server.token);
    let (host, own) = (
        server.address.as_str(),
        format!("http://{}", server.address),
    );
    let wrong = bearer.replace("Bearer ", "Bearer 0");
    for (headers, expected) in [
        (
            vec![("Host", host), ("Authorization", bearer.as_str())],
            200,
        ),
        (
            vec![("Host", host), ("Authorization", &bearer), ("Origin", &own)],
            200,
        ),
        (vec![("Host", host)], 401),
        (vec![("Host", host), ("Authorization", &wrong)], 401),
        (
            vec![("Host", "evil.example"), ("Authorization", &bearer)],
            403,
        ),
        (
            vec![
                ("Host", host),
                ("Authorization", &bearer),
                ("Origin", "http://evil.example"),
            ],
            403,
        ),
    ] {
        assert_eq!(server.status(&headers), expected, "{headers:?}");
    }
}

#[test]
fn other_addresses_than_those_of_this_machine_are_refused() {
    let refused = crate::support::run(&["mcp", "--http", "0.0.0.0:0"]);
    assert_eq!(refused.exit, crate::support::Exit::Error);
    assert!(
        refused
            .err
            .contains("expected an address of this machine alone"),
        "{}",
        refused.err
    );
}

#[test]
fn a_client_of_others_asks_over_http() {
    let folder = tempfile::tempdir().unwrap();
    let server = Serving::start(folder.path(), "127.0.0.1:0");
    let url = format!("http://{}/mcp", server.address);
    let steps = json!([
        {"tools": true},
        call("open", json!({"path": trace("sched-5.etl")})),
        {"together": (0..5).map(|_| call("ask", json!({"trace": "t1", "question": "cpu"}))).collect::<Vec<_>>()},
    ]);
    let Some(replies) = driven(
        "a_client_of_others",
        folder.path(),
        &[&url, &server.token],
        &steps,
    ) else {
        return;
    };
    assert_eq!(replies[0]["names"].as_array().unwrap().len(), 12);
    assert_eq!(answer(&replies[1])["trace"], "t1");
    for one in replies[2].as_array().unwrap() {
        assert!(!answer(one)["rows"].as_array().unwrap().is_empty());
    }
}
