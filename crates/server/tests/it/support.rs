//! A server with a trace, and a client that sends exactly the bytes of a test.

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use etwkit_engine::{Engine, Settings};
use etwkit_record::Control;
use etwkit_server::{Limits, Running, Server, ServerOptions};
use etwkit_synth::Options;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A server, and the folder in which it keeps everything.
pub(crate) struct Place {
    pub(crate) folder: TempDir,
    pub(crate) engine: Engine,
    pub(crate) running: Running,
}

/// The reply.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| {
            panic!(
                "{error}: {} {}",
                self.head,
                String::from_utf8_lossy(&self.body)
            )
        })
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }
}

impl Place {
    /// A server with nothing open.
    pub(crate) fn new() -> Self {
        Self::limited(Limits::default())
    }

    /// A server with nothing open that grants so much.
    pub(crate) fn limited(limits: Limits) -> Self {
        Self::with(limits, |_| None)
    }

    /// A server with nothing open, which records with what is made for its folder.
    pub(crate) fn with(limits: Limits, recorder: impl Fn(&Path) -> Option<Control>) -> Self {
        Self::made(limits, recorder, true)
    }

    /// A server with nothing open that may contact symbol servers.
    pub(crate) fn online() -> Self {
        Self::made(Limits::default(), |_| None, false)
    }

    fn made(limits: Limits, recorder: impl Fn(&Path) -> Option<Control>, is_offline: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("cache");
        let engine = Engine::new(Settings {
            cache: Some(cache.clone()),
            temp_dir: None,
            is_offline,
        });
        let (demo_trace, demo_options) = (folder.path().join("demo.etl"), Options::default());
        let demo = move || {
            let demo = etwkit_synth::find("office").unwrap();
            demo.write(File::create(&demo_trace)?, &demo_options)
                .map_err(std::io::Error::other)?;
            Ok(demo_trace.clone())
        };
        let options = ServerOptions {
            engine: engine.clone(),
            port: None,
            cache_folder: cache.join("page"),
            demo: Some(std::sync::Arc::new(demo)),
            recorder: recorder(folder.path()),
            limits,
        };
        Self {
            running: Server::start(options).unwrap(),
            folder,
            engine,
        }
    }

    /// A server with a trace that is ready.
    pub(crate) fn with_trace() -> Self {
        let place = Self::new();
        let trace = place.trace("office.etl");
        place.open(&trace);
        place
    }

    /// Writes a trace.
    pub(crate) fn trace(&self, name: &str) -> PathBuf {
        self.long_trace(name, Options::default().scale)
    }

    /// Writes a trace of this multiple of the length.
    pub(crate) fn long_trace(&self, name: &str, scale: u32) -> PathBuf {
        let trace = self.folder.path().join(name);
        let office = etwkit_synth::find("office").unwrap();
        let options = Options {
            scale,
            ..Options::default()
        };
        office
            .write(File::create(&trace).unwrap(), &options)
            .unwrap();
        trace
    }

    /// Opens a trace and waits until it is ready, or cannot be opened. Returns all states that were
    /// seen.
    pub(crate) fn open(&self, path: &Path) -> Vec<Value> {
        assert_eq!(self.post("open", &json!({"path": path})).status, 200);
        self.settled(path)
    }

    pub(crate) fn settled(&self, path: &Path) -> Vec<Value> {
        let (begun, mut seen) = (Instant::now(), Vec::new());
        loop {
            let info = self.get("info").json();
            let path = path.display().to_string();
            let one = info["traces"]
                .as_array()
                .unwrap()
                .iter()
                .find(|one| one["path"] == path.as_str())
                .cloned();
            let state = one.unwrap()["state"].clone();
            let is_over = state["is"] != "opening";
            seen.push(state);
            if is_over {
                return seen;
            }
            assert!(begun.elapsed() < Duration::from_secs(120), "it never opens");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Connects, and says this.
    pub(crate) fn say(&self, request: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(self.running.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(90)))
            .unwrap();
        stream.write_all(request).unwrap();
        stream
    }

    /// Returns a request with these lines after the first one.
    pub(crate) fn raw(&self, first: &str, lines: &[&str], body: &[u8]) -> Reply {
        let mut request = format!(
            "{first} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n",
            body.len()
        );
        for line in lines {
            request += &format!("{line}\r\n");
        }
        read(&mut self.say(&[request.as_bytes(), b"\r\n", body].concat()))
    }

    /// The lines of a request of the page.
    pub(crate) fn lines(&self) -> [String; 3] {
        let address = self.running.address;
        [
            format!("Host: {address}"),
            format!("Origin: http://{address}"),
            format!("Authorization: Bearer {}", self.running.token),
        ]
    }

    fn own(&self, first: &str, body: &[u8]) -> Reply {
        let lines = self.lines();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        self.raw(first, &lines, body)
    }

    pub(crate) fn get(&self, question: &str) -> Reply {
        self.own(&format!("GET /api/v1/{question}"), b"")
    }

    pub(crate) fn post(&self, question: &str, request: &Value) -> Reply {
        self.own(
            &format!("POST /api/v1/{question}"),
            request.to_string().as_bytes(),
        )
    }

    pub(crate) fn send(&self, question: &str, body: &[u8]) -> Reply {
        self.own(&format!("POST /api/v1/{question}"), body)
    }

    /// The answer to a question that is answered.
    pub(crate) fn answer(&self, question: &str, request: &Value) -> Value {
        let reply = self.post(question, request);
        assert_eq!(
            reply.status,
            200,
            "{question} {request}: {}",
            String::from_utf8_lossy(&reply.body)
        );
        reply.json()
    }

    /// The text of a request that asks a statement which takes very long.
    pub(crate) fn endless(&self) -> Vec<u8> {
        let sql = "SELECT count(*) FROM cpu_sample a, cpu_sample b, cpu_sample c, cpu_sample d \
                   WHERE a.ts_ns + b.ts_ns < c.ts_ns - d.ts_ns";
        let body = json!({"trace": 0, "sql": sql, "limit": 1}).to_string();
        let lines = self.lines().join("\r\n");
        format!(
            "POST /api/v1/sql HTTP/1.1\r\n{lines}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .into_bytes()
    }

    /// Waits until something is so.
    pub(crate) fn until(&self, limit: Duration, what: impl Fn(&Running) -> bool) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < limit {
            if what(&self.running) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        false
    }
}

/// The reply on a connection that the server closes.
pub(crate) fn read(stream: &mut TcpStream) -> Reply {
    let mut bytes = Vec::new();
    // A server that refuses a long body closes before all of it was sent.
    let _ = stream.read_to_end(&mut bytes);
    let end = bytes
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .expect("a reply has a head");
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Reply {
        status,
        head,
        body: bytes[end + 4..].to_vec(),
    }
}

/// Reads the reply on a connection that stays open: its length is in its head.
pub(crate) fn answered(stream: &mut TcpStream) -> Reply {
    let (mut bytes, mut piece) = (Vec::new(), vec![0; 64 << 10]);
    loop {
        let count = stream.read(&mut piece).unwrap();
        bytes.extend_from_slice(&piece[..count]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            continue;
        };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let reply = Reply {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head,
            body: Vec::new(),
        };
        let length: usize = reply.header("content-length").unwrap().parse().unwrap();
        if count == 0 || bytes.len() >= end + 4 + length {
            return Reply {
                body: bytes[end + 4..].to_vec(),
                ..reply
            };
        }
    }
}
