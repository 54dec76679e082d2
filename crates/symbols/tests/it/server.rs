//! A symbol server on its own port with the answers that a test sets.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// The answer of the server to a path.
#[derive(Clone)]
pub(crate) enum Answer {
    File(Vec<u8>),
    /// The file, for clients that accept this type.
    IfAccepted(&'static str, Vec<u8>),
    Status(u16),
    /// `302` to this URL or path.
    Redirect(String),
    /// Takes the request and sends nothing.
    Silence,
    /// Starts a file of that many bytes and sends one byte at a time.
    Drip(usize),
    /// Claims more bytes than it sends, then closes the connection.
    CutOff(Vec<u8>),
    /// Sends this instead of HTTP.
    Noise(Vec<u8>),
    /// First this status, then the file.
    SecondTime(u16, Vec<u8>),
}

pub(crate) struct Server {
    pub(crate) url: String,
    /// Requested paths, in order.
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Paths without an answer are 404.
    pub(crate) fn start(answers: impl IntoIterator<Item = (String, Answer)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let answers: Arc<BTreeMap<String, Answer>> = Arc::new(answers.into_iter().collect());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        // It ends with the process.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answers, log) = (Arc::clone(&answers), Arc::clone(&log));
                thread::spawn(move || drop(serve(stream, &answers, &log)));
            }
        });
        Self { url, asked }
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    /// Requests except for `index2.txt`.
    pub(crate) fn files_asked(&self) -> Vec<String> {
        self.asked()
            .into_iter()
            .filter(|path| !path.ends_with("index2.txt"))
            .collect()
    }
}

fn serve(
    stream: TcpStream,
    answers: &BTreeMap<String, Answer>,
    log: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut out = stream.try_clone()?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut request = String::new();
        if reader.read_line(&mut request)? == 0 {
            return Ok(());
        }
        let (mut line, mut accepts) = (String::new(), String::new());
        while reader.read_line(&mut line)? > 2 {
            if line.to_lowercase().starts_with("accept:") {
                accepts.clone_from(&line);
            }
            line.clear();
        }
        let path = request.split(' ').nth(1).unwrap().to_owned();
        let times = {
            let mut log = log.lock().unwrap();
            log.push(path.clone());
            log.iter().filter(|it| **it == path).count()
        };
        match answers.get(&path) {
            None => write!(out, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")?,
            Some(Answer::File(bytes)) => file(&mut out, bytes)?,
            Some(Answer::IfAccepted(kind, bytes)) if accepts.contains(kind) => {
                file(&mut out, bytes)?;
            }
            Some(Answer::IfAccepted(..)) => {
                write!(out, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")?;
            }
            Some(Answer::SecondTime(_, bytes)) if times > 1 => file(&mut out, bytes)?,
            Some(Answer::Status(status) | Answer::SecondTime(status, _)) => {
                write!(out, "HTTP/1.1 {status} Odd\r\nContent-Length: 0\r\n\r\n")?;
            }
            Some(Answer::Redirect(to)) => {
                write!(
                    out,
                    "HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n"
                )?;
            }
            Some(Answer::Silence) => thread::sleep(Duration::from_secs(60)),
            Some(Answer::Drip(len)) => {
                write!(out, "HTTP/1.1 200 OK\r\nContent-Length: {len}\r\n\r\n")?;
                for _ in 0..*len {
                    out.write_all(b"M")?;
                    thread::sleep(Duration::from_millis(50));
                }
            }
            Some(Answer::CutOff(bytes)) => {
                write!(
                    out,
                    "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n",
                    bytes.len() + 1
                )?;
                out.write_all(bytes)?;
                return Ok(());
            }
            Some(Answer::Noise(bytes)) => {
                out.write_all(bytes)?;
                return Ok(());
            }
        }
    }
}

fn file(out: &mut TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    write!(
        out,
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n",
        bytes.len()
    )?;
    out.write_all(bytes)
}
