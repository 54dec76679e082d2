//! An object store on this computer, which stands in for S3, Azure and Google.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::azure;

/// The time of all files.
const CHANGED: &str = "2020-01-01T00:00:00.000Z";
pub(crate) const CHANGED_HTTP: &str = "Wed, 01 Jan 2020 00:00:00 GMT";

/// The variable with the address of the lake, which only the steps of a test have.
pub(crate) const LAKE: &str = "ETWKIT_TEST_LAKE";

/// The starts of the names of variables of the clients, which would lead to other places.
const OF_CLIENTS: [&str; 6] = [
    "AWS_",
    "AZURE_",
    "IDENTITY_",
    "GOOGLE_",
    "GCE_",
    "SERVICE_ACCOUNT",
];

/// The folders of a user, where a client looks for a login.
const HOMES: [&str; 2] = ["HOME", "APPDATA"];

/// A service account that gets no token, which needs no other server.
const ACCOUNT: &str =
    r#"{"client_email":"","private_key":"","private_key_id":"","disable_oauth":true}"#;

/// Others that would.
const PROXIES: [&str; 6] = [
    "HTTP_PROXY",
    "http_proxy",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
];

/// Requests with this word wait for a while.
pub(crate) const SLOW: &str = "slow";

/// The time that they wait.
pub(crate) const DELAY: Duration = Duration::from_millis(400);

/// The protocol of a store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Protocol {
    #[default]
    S3,
    Azure,
    Google,
}

impl Protocol {
    const fn lake(self) -> &'static str {
        match self {
            Self::S3 => "s3://traces/farm/lake",
            Self::Azure => "az://traces/farm/lake",
            Self::Google => "gs://traces/farm/lake",
        }
    }

    /// The variables with the place of the store.
    fn settings(self, address: &str) -> Vec<(&'static str, &str)> {
        match self {
            Self::S3 => vec![
                ("AWS_ENDPOINT_URL", address),
                ("AWS_ALLOW_HTTP", "true"),
                ("AWS_REGION", "us-east-1"),
            ],
            Self::Azure => vec![
                ("AZURE_STORAGE_ENDPOINT", address),
                ("AZURE_ALLOW_HTTP", "true"),
            ],
            Self::Google => vec![("GOOGLE_BASE_URL", address)],
        }
    }

    const fn credentials(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::S3 => &[
                ("AWS_ACCESS_KEY_ID", "key"),
                ("AWS_SECRET_ACCESS_KEY", "secret"),
            ],
            Self::Azure => &[
                ("AZURE_STORAGE_ACCOUNT_NAME", "account"),
                ("AZURE_STORAGE_ACCOUNT_KEY", "a2V5"),
            ],
            Self::Google => &[("GOOGLE_SERVICE_ACCOUNT_KEY", ACCOUNT)],
        }
    }

    /// The header of a request that creates a file and replaces none.
    const fn creates(self) -> (&'static str, &'static str) {
        match self {
            Self::S3 | Self::Azure => ("if-none-match", "*"),
            Self::Google => ("x-goog-if-generation-match", "0"),
        }
    }

    /// The answer to a request that would create a file again.
    const fn refusal(self) -> &'static str {
        match self {
            Self::S3 | Self::Google => "412 Precondition Failed",
            Self::Azure => "409 Conflict",
        }
    }
}

/// A fault. Apart from the last one, each happens once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// Another writer commits first.
    OtherWriter,
    /// The answer about a file that was written is lost.
    LostAnswer,
    /// A file of rows is refused, as if another request for it had not ended.
    Conflict,
    /// An answer to a range lacks its last byte.
    ShortAnswer,
    /// Files that exist are always replaced.
    Overwrites,
}

/// The files, and what was done with them.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// Requests by their methods.
    pub(crate) requests: Vec<String>,
    /// Bytes of files that were sent.
    pub(crate) sent: usize,
    /// Requests need no credentials.
    pub(crate) is_public: bool,
    fault: Option<Fault>,
    protocol: Protocol,
}

pub(crate) struct Remote {
    address: String,
    protocol: Protocol,
    pub(crate) kept: Arc<Mutex<Kept>>,
}

/// A request.
pub(crate) struct Asked {
    method: String,
    path: String,
    query: BTreeMap<String, String>,
    headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Asked {
    fn is_slow(&self) -> bool {
        let prefix = self.query.get("prefix");
        let prefix = prefix.is_some_and(|prefix| prefix.contains(SLOW));
        prefix || self.path.contains(SLOW)
    }
}

/// The status, more headers and the content of an answer.
pub(crate) type Answer = (&'static str, Vec<String>, Vec<u8>);

impl Remote {
    /// Starts a store. A fault of a commit is the first one of the table `run` after the one that made it.
    pub(crate) fn start(protocol: Protocol, fault: Fault) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let kept = Arc::new(Mutex::new(Kept {
            fault: Some(fault),
            protocol,
            ..Kept::default()
        }));
        let of_all = kept.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let kept = of_all.clone();
                thread::spawn(move || serve(&stream.unwrap(), &kept));
            }
        });
        Self {
            address,
            protocol,
            kept,
        }
    }

    /// Runs the steps of a test in a process with the variables of the store.
    pub(crate) fn run(&self, steps: &str) {
        self.run_with(steps, self.protocol.credentials());
    }

    pub(crate) fn run_with(&self, steps: &str, variables: &[(&str, &str)]) {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", steps, "--nocapture"]);
        for name in PROXIES {
            command.env_remove(name);
        }
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if OF_CLIENTS.iter().any(|start| text.starts_with(start)) {
                command.env_remove(&name);
            }
        }
        let home = tempfile::tempdir().unwrap();
        command.envs(HOMES.map(|name| (name, home.path())));
        command.env(LAKE, self.protocol.lake());
        command.envs(self.protocol.settings(&self.address));
        command.envs(variables.iter().copied());
        let done = command.output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        let printed = String::from_utf8_lossy(&done.stdout);
        assert!(done.status.success(), "{said}{printed}");
        assert!(printed.contains("1 passed"), "{printed}");
    }
}

fn serve(stream: &TcpStream, kept: &Mutex<Kept>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while let Some(asked) = read(&mut reader) {
        let is_head = asked.method == "HEAD";
        if asked.is_slow() {
            thread::sleep(DELAY);
        }
        let (status, headers, body) = answer(&asked, &mut kept.lock().unwrap());
        let mut text = format!("HTTP/1.1 {status}\r\n");
        for header in headers {
            text.push_str(&format!("{header}\r\n"));
        }
        text.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
        let mut stream = stream;
        let mut sent = stream.write_all(text.as_bytes());
        if !is_head {
            sent = sent.and_then(|()| stream.write_all(&body));
        }
        if sent.is_err() {
            return;
        }
    }
}

/// Reads a request; `None` at the end of the connection.
fn read(reader: &mut impl BufRead) -> Option<Asked> {
    let first = line(reader).ok().filter(|line| !line.is_empty())?;
    let mut words = first.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let query = pairs.map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (name.to_owned(), decoded(value))
    });
    let mut headers = BTreeMap::new();
    loop {
        let header = line(reader).ok()?;
        let Some((name, value)) = header.split_once(':') else {
            break;
        };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length");
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    Some(Asked {
        method,
        path: decoded(path),
        query: query.collect(),
        headers,
        body,
    })
}

fn line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}

pub(crate) fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let is_code = *first == b'%' && after.len() >= 2;
        if is_code {
            let code = std::str::from_utf8(&after[..2]).unwrap();
            bytes.push(u8::from_str_radix(code, 16).unwrap());
        } else {
            bytes.push(*first);
        }
        rest = if is_code { &after[2..] } else { after };
    }
    String::from_utf8(bytes).unwrap()
}

fn answer(asked: &Asked, kept: &mut Kept) -> Answer {
    kept.requests
        .push(format!("{} {}", asked.method, asked.path));
    if !kept.is_public && !asked.headers.contains_key("authorization") {
        return ("403 Forbidden", Vec::new(), Vec::new());
    }
    let Some(path) = asked.path.strip_prefix("/traces") else {
        return ("404 Not Found", Vec::new(), Vec::new());
    };
    let key = path.trim_start_matches('/');
    match (asked.method.as_str(), kept.protocol) {
        ("GET", Protocol::S3 | Protocol::Google) if key.is_empty() => list(asked, kept),
        ("GET", Protocol::Azure) if key.is_empty() => azure::list(asked, kept),
        ("GET" | "HEAD", _) => get(asked, key, kept),
        ("PUT", _) => put(asked, key, kept),
        ("POST", Protocol::S3) => delete(asked, kept),
        ("POST", Protocol::Azure) => azure::delete(asked, kept),
        ("DELETE", Protocol::Google) => match kept.files.remove(key) {
            Some(_) => ("204 No Content", Vec::new(), Vec::new()),
            None => ("404 Not Found", Vec::new(), Vec::new()),
        },
        _ => ("405 Method Not Allowed", Vec::new(), Vec::new()),
    }
}

fn put(asked: &Asked, key: &str, kept: &mut Kept) -> Answer {
    let (header, value) = kept.protocol.creates();
    let is_create = asked.headers.get(header).map(String::as_str) == Some(value);
    let is_next_commit = key.ends_with("run/_delta_log/00000000000000000001.json");
    let is_rows = key.contains("/run_month=");
    let fault = kept.fault.take_if(|fault| match fault {
        Fault::None | Fault::ShortAnswer | Fault::Overwrites => false,
        Fault::OtherWriter | Fault::LostAnswer => is_next_commit,
        Fault::Conflict => is_rows,
    });
    if fault == Some(Fault::Conflict) {
        return ("409 Conflict", Vec::new(), Vec::new());
    }
    if fault == Some(Fault::OtherWriter) {
        kept.files.insert(key.to_owned(), b"{}\n".to_vec());
    }
    let is_refused = is_create && kept.fault != Some(Fault::Overwrites);
    if is_refused && kept.files.contains_key(key) {
        return (kept.protocol.refusal(), Vec::new(), Vec::new());
    }
    kept.files.insert(key.to_owned(), asked.body.clone());
    if fault == Some(Fault::LostAnswer) {
        return ("503 Slow Down", Vec::new(), Vec::new());
    }
    ("200 OK", vec!["ETag: \"1\"".to_owned()], Vec::new())
}

fn get(asked: &Asked, key: &str, kept: &mut Kept) -> Answer {
    let Some(file) = kept.files.get(key) else {
        return ("404 Not Found", Vec::new(), Vec::new());
    };
    let mut headers = vec![
        "ETag: \"1\"".to_owned(),
        format!("Last-Modified: {CHANGED_HTTP}"),
    ];
    let range = asked.headers.get("range");
    let range = range.and_then(|range| range.strip_prefix("bytes="));
    let Some((from, to)) = range.and_then(|range| range.split_once('-')) else {
        let body = file.clone();
        // The answer to HEAD has only the length.
        if asked.method == "GET" {
            kept.sent += body.len();
        }
        return ("200 OK", headers, body);
    };
    let size = file.len();
    let (from, to): (usize, usize) = match (from.parse(), to.parse::<usize>()) {
        (Ok(from), Ok(to)) => (from, size.min(to + 1)),
        (Ok(from), Err(_)) => (from, size),
        (Err(_), Ok(last)) => (size.saturating_sub(last), size),
        (Err(_), Err(_)) => panic!("{range:?}"),
    };
    let mut body = file[from..to].to_vec();
    let is_end = to == size;
    let fault = kept
        .fault
        .take_if(|fault| *fault == Fault::ShortAnswer && !is_end);
    if fault.is_some() {
        body.pop();
    }
    kept.sent += body.len();
    headers.push(format!("Content-Range: bytes {from}-{}/{size}", to - 1));
    ("206 Partial Content", headers, body)
}

/// The files that a request lists, and the folders.
pub(crate) fn listed<'k>(
    asked: &Asked,
    kept: &'k Kept,
) -> (Vec<(&'k String, usize)>, BTreeSet<String>) {
    let prefix = asked.query.get("prefix").map_or("", String::as_str);
    let has_folders = asked.query.contains_key("delimiter");
    let (mut files, mut folders) = (Vec::new(), BTreeSet::new());
    for (key, bytes) in &kept.files {
        let Some(rest) = key.strip_prefix(prefix) else {
            continue;
        };
        match rest.split_once('/').filter(|_| has_folders) {
            Some((folder, _)) => {
                folders.insert(format!("{prefix}{folder}/"));
            }
            None => files.push((key, bytes.len())),
        }
    }
    (files, folders)
}

fn list(asked: &Asked, kept: &Kept) -> Answer {
    let (files, folders) = listed(asked, kept);
    let mut text = String::from("<ListBucketResult>");
    for (key, size) in files {
        text.push_str(&format!(
            "<Contents><Key>{key}</Key><LastModified>{CHANGED}</LastModified><ETag>\"1\"</ETag>\
             <Size>{size}</Size></Contents>"
        ));
    }
    for folder in folders {
        text.push_str(&format!(
            "<CommonPrefixes><Prefix>{folder}</Prefix></CommonPrefixes>"
        ));
    }
    text.push_str("</ListBucketResult>");
    ("200 OK", Vec::new(), text.into_bytes())
}

fn delete(asked: &Asked, kept: &mut Kept) -> Answer {
    let body = String::from_utf8(asked.body.clone()).unwrap();
    let mut text = String::from("<DeleteResult>");
    for part in body.split("<Key>").skip(1) {
        let (key, _) = part.split_once("</Key>").unwrap();
        kept.files.remove(key);
        text.push_str(&format!("<Deleted><Key>{key}</Key></Deleted>"));
    }
    text.push_str("</DeleteResult>");
    ("200 OK", Vec::new(), text.into_bytes())
}
