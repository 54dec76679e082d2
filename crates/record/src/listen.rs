//! One mark in the recordings of several machines: the marking machine sends the text to the
//! others, which listen.
//!
//! A message is one datagram: a word that both sides know, a line break, the text. The answer
//! repeats the text. A sender that does not know the word gets no answer. A message can do nothing
//! but set a mark.

use std::io::ErrorKind;
use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use etwkit_terminal::errors::advised;
use etwkit_terminal::{Exit, Lines};

use crate::args::{ListenArgs, MarkArgs};
use crate::recording::Machine;
use crate::steps;

/// Largest number of bytes in a message.
const MOST: usize = 1024;
/// Longest time that the marking machine waits for an answer.
const ANSWER: Duration = Duration::from_secs(1);
/// Polling interval for the stop flag.
const LOOK: Duration = Duration::from_millis(100);

/// Marks this recording and the recordings of the machines that listen, and prints the largest
/// possible time between the marks.
///
/// # Errors
/// This machine cannot mark, or one of the others does not answer. The machines that answered have
/// the mark.
pub(crate) fn mark(
    args: &MarkArgs,
    machine: &mut Machine<'_>,
    lines: &mut Lines<'_>,
) -> Result<Exit> {
    if args.text.contains('\n') || args.text.len() + args.word.len() + 1 > MOST {
        return Err(advised(
            "the text is too long for a mark",
            "other machines read one line of some hundred letters",
        ));
    }
    if is_switch(&args.text) {
        return Err(advised(
            format!("a mark cannot be called {}", args.text),
            "wpr would read it as a switch: start it with a letter or a digit",
        ));
    }
    // Sent first: the answers of the others arrive while this machine marks.
    let others: Vec<Other> = args
        .also
        .iter()
        .map(|name| Other::send(name, args))
        .collect::<Result<_>>()?;
    machine.done(&steps::mark(&args.text))?;
    lines.line(&format!("Marked: {}", args.text))?;
    // The mark is set, even if the picture fails.
    let picture = args.picture.then(|| machine.picture()).transpose();
    let mut silent = Vec::new();
    for other in others {
        match other.answer(&args.text)? {
            Some(time) => {
                let ms = time.as_secs_f64() * 1e3;
                lines.line(&format!(
                    "Marked on {}, at most {ms:.1} ms later",
                    other.name
                ))?;
            }
            None => silent.push(other.name),
        }
    }
    if let Some(file) = picture? {
        lines.line(&format!("Picture {}", file.display()))?;
    }
    if silent.is_empty() {
        return Ok(Exit::Answered);
    }
    Err(advised(
        format!(
            "no mark on {}: no answer within a second",
            silent.join(", ")
        ),
        "there `etwkit record listen` has to run, with the same --word, and no firewall in between",
    ))
}

/// A machine that was sent a mark.
struct Other {
    name: String,
    socket: UdpSocket,
    sent: Instant,
}

impl Other {
    fn send(name: &str, args: &MarkArgs) -> Result<Self> {
        let cannot = || format!("cannot reach {name}");
        let wrong = || {
            advised(
                format!("cannot reach {name}"),
                "expected MACHINE:PORT, as PC2:4711",
            )
        };
        let to = name
            .to_socket_addrs()
            .map_err(|_| wrong())?
            .next()
            .ok_or_else(wrong)?;
        let any: SocketAddr = if to.is_ipv4() {
            ([0; 4], 0).into()
        } else {
            ([0_u16; 8], 0).into()
        };
        let socket = UdpSocket::bind(any).with_context(cannot)?;
        // Connected, so that only that machine can answer, and a refusal by its system is reported.
        socket.connect(to).with_context(cannot)?;
        socket.set_read_timeout(Some(ANSWER)).with_context(cannot)?;
        let sent = Instant::now();
        socket
            .send(format!("{}\n{}", args.word, args.text).as_bytes())
            .with_context(cannot)?;
        Ok(Self {
            name: name.to_owned(),
            socket,
            sent,
        })
    }

    /// Returns the time until the mark was confirmed; `None` if there is no answer.
    fn answer(&self, text: &str) -> Result<Option<Duration>> {
        let mut bytes = [0; MOST];
        match self.socket.recv(&mut bytes) {
            Ok(count) if bytes.get(..count) == Some(text.as_bytes()) => {
                Ok(Some(self.sent.elapsed()))
            }
            // A machine without a listener reports a refused connection.
            Ok(_) => Ok(None),
            Err(error) if is_silence(error.kind()) => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot hear {}", self.name)),
        }
    }
}

fn is_silence(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::WouldBlock
            | ErrorKind::TimedOut
            | ErrorKind::ConnectionRefused
            | ErrorKind::ConnectionReset
    )
}

/// Marks the recording of this machine for each received mark, until the user stops it.
///
/// # Errors
/// The address is taken, or nothing can be printed. A mark that fails is reported, and listening
/// goes on.
pub(crate) fn listen(
    args: &ListenArgs,
    machine: &mut Machine<'_>,
    lines: &mut Lines<'_>,
) -> Result<Exit> {
    let cannot = || format!("cannot listen at {}", args.address);
    let socket = UdpSocket::bind(args.address).with_context(cannot)?;
    socket.set_read_timeout(Some(LOOK)).with_context(cannot)?;
    let at = socket.local_addr().with_context(cannot)?;
    lines.line(&format!("Listening at {at} for marks; Ctrl-C ends it"))?;
    lines.flush()?;
    let mut bytes = [0; MOST];
    while machine.clock.pause(Duration::ZERO) {
        let (count, from) = match socket.recv_from(&mut bytes) {
            Ok(got) => got,
            // Includes the error that a system reports about the previous answer if its receiver
            // has gone.
            Err(error) if is_silence(error.kind()) => continue,
            Err(error) => return Err(error).with_context(cannot),
        };
        // Anyone can send to the port; only messages with the word become marks.
        let Some(text) = bytes
            .get(..count)
            .and_then(|bytes| text_of(bytes, &args.word))
        else {
            continue;
        };
        match machine.done(&steps::mark(text)) {
            Ok(_) => {
                // A sender that has gone in the meantime needs no answer.
                let _ = socket.send_to(text.as_bytes(), from);
                lines.line(&format!("Marked: {text} (from {from})"))?;
            }
            Err(error) => lines.labelled(&format!(
                "warning: no mark \"{text}\" (from {from}): {error:#}"
            ))?,
        }
        lines.flush()?;
    }
    Ok(Exit::Answered)
}

/// Returns the text of a message with that word.
fn text_of<'m>(message: &'m [u8], word: &str) -> Option<&'m str> {
    let (said, text) = std::str::from_utf8(message).ok()?.split_once('\n')?;
    let is_mark = !text.is_empty() && !text.contains(char::is_control) && !is_switch(text);
    (said == word && is_mark).then_some(text)
}

/// True if wpr, which gets a mark as a word of its command line, would read it as a switch:
/// `-cancel` from another machine must not end a recording.
fn is_switch(text: &str) -> bool {
    text.trim_start().starts_with(['-', '/'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_without_the_word_or_with_controls_are_none() {
        assert_eq!(text_of(b"w\nslow now", "w"), Some("slow now"));
        for message in [
            &b"v\nslow"[..],
            b"w",
            b"w\n",
            b"w\na\x1b[2J",
            b"w\na\nb",
            b"w\n-cancel",
            b"w\n /?",
            b"\xff\nx",
            b"",
        ] {
            assert_eq!(text_of(message, "w"), None, "{message:?}");
        }
    }
}
