//! Names that are looked up at two servers, of which the first one is dead: each name waits for a
//! timeout before the query goes to the second server. Both servers belong to this program and are
//! local: nothing is sent to other machines. The resolver of the system is not involved. With
//! `--system`, it looks the names up at the servers of the machine instead.

use std::io::ErrorKind;
use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::lab::spread::Spread;
use crate::lab::{Bench, Report};

/// Timeout after which a query counts as unanswered.
const LATE: Duration = Duration::from_secs(1);
/// Polling interval for the stop flag.
const LOOK: Duration = Duration::from_millis(20);
/// Length of the header before a question, in bytes.
const HEADER: usize = 12;
/// Flags of a question and of its answer: it is one, and recursion is requested and available.
const ASKS: [u8; 2] = [0x01, 0x00];
const ANSWERS: [u8; 2] = [0x81, 0x80];

/// Number of names, and the timeout.
#[derive(Debug, Clone, Args)]
pub(crate) struct DnsArgs {
    /// Names that are looked up
    #[arg(long, value_name = "N", default_value_t = 5,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    names: u32,
    /// Time that a server has to answer; Windows continues after 12 s
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0)]
    timeout: f64,
    /// Ask the server that answers first
    #[arg(long)]
    healthy: bool,
    /// Let the resolver of the system ask the servers of this machine for names that nobody has: on
    /// Windows this is what recordings of DNS queries show
    #[arg(long, conflicts_with_all = ["healthy", "timeout"])]
    system: bool,
}

impl DnsArgs {
    pub(crate) fn run(&self, bench: &Bench<'_>) -> Result<Report> {
        if self.system {
            return Ok(self.by_system(bench, &|name| (name, 0).to_socket_addrs().is_ok()));
        }
        let timeout = Duration::try_from_secs_f64(self.timeout)
            .ok()
            .filter(|time| !time.is_zero());
        // A time beyond the range of the clock could not be waited for.
        let timeout = timeout.filter(|time| Instant::now().checked_add(*time).is_some());
        let timeout = timeout.context("expected seconds of more than 0 for --timeout")?;
        let socket = || UdpSocket::bind(("127.0.0.1", 0)).context("cannot open a socket");
        let dead = socket()?;
        let live = socket()?;
        let own = socket()?;
        let mut servers = [dead.local_addr()?, live.local_addr()?];
        if self.healthy {
            servers.reverse();
        }
        let is_over = AtomicBool::new(false);
        let mut times = Vec::new();
        std::thread::scope(|scope| {
            let server = scope.spawn(|| answer(&live, &is_over));
            let looked_up = (0..self.names)
                .take_while(|_| !(bench.is_stopped)())
                .try_for_each(|number| {
                    let begun = Instant::now();
                    let asked = look_up(&own, (number, &servers), timeout)?;
                    times.push((begun.elapsed(), asked));
                    bench.progress(number + 1, self.names);
                    Ok::<_, anyhow::Error>(())
                });
            is_over.store(true, Ordering::SeqCst);
            let served = server.join().ok();
            served
                .context("the thread of the server failed")?
                .context("the server failed")?;
            looked_up
        })?;
        Ok(report(&times))
    }

    /// Looks up names that are new to the caches of the system, in the way programs do.
    fn by_system(&self, bench: &Bench<'_>, is_there: &dyn Fn(&str) -> bool) -> Report {
        let mut report = Report::new("dns", &["dns"], "dump dns");
        let mut times = Vec::new();
        let mut found = 0;
        for number in (0..self.names).take_while(|_| !(bench.is_stopped)()) {
            // A reserved domain, so that no server has it.
            let name = format!("etwkit-{}-{number}.example", std::process::id());
            let begun = Instant::now();
            found += u32::from(is_there(&name));
            let took = begun.elapsed();
            report.line(format!("{name} took {:.3} s", took.as_secs_f64()));
            times.push(took);
            bench.progress(number + 1, self.names);
        }
        let late = times.iter().filter(|took| **took >= LATE).count();
        let spread = Spread::of(times);
        report.line(format!(
            "The system looked up {} names, of which {found} were there: {spread}; {late} took a second and more.",
            self.names
        ));
        report.value("names", self.names.into(), "count");
        report.value("late", late as f64, "count");
        spread.values(&mut report);
        report
    }
}

fn report(times: &[(Duration, usize)]) -> Report {
    // The resolver of the system is not used, so there are no DNS queries to see but packets.
    let mut report = Report::new("dns", &["network"], "dump net");
    for (number, (time, servers)) in times.iter().enumerate() {
        let after = if *servers > 1 {
            ": the first server did not answer in time"
        } else {
            ""
        };
        report.line(format!(
            "name{number}.example took {:.3} s{after}",
            time.as_secs_f64()
        ));
    }
    let total: Duration = times.iter().map(|(time, _)| *time).sum();
    let late = times.iter().filter(|(_, servers)| *servers > 1).count();
    report.line(format!(
        "{} names took {:.3} s; {late} of them waited for a server that is dead.",
        times.len(),
        total.as_secs_f64()
    ));
    report.value("names", times.len() as f64, "count");
    report.value("timed_out", late as f64, "count");
    report.seconds("total_s", total);
    report
}

/// Returns a query for the address of a name, as RFC 1035 defines it.
fn question(number: u32) -> Vec<u8> {
    // A unique id for each query: late answers to earlier ones must not be taken for the answer to
    // this one.
    let id = (number % u32::from(u16::MAX)) as u16;
    let mut bytes = id.to_be_bytes().to_vec();
    bytes.extend(ASKS);
    // One question, nothing else.
    bytes.extend([0, 1, 0, 0, 0, 0, 0, 0]);
    for label in [format!("name{number}").as_str(), "example"] {
        bytes.push(label.len() as u8);
        bytes.extend(label.as_bytes());
    }
    // The root, type A, class IN.
    bytes.extend([0, 0, 1, 0, 1]);
    bytes
}

/// Queries one server after the other and returns the number of queried servers.
fn look_up(
    socket: &UdpSocket,
    (number, servers): (u32, &[SocketAddr]),
    timeout: Duration,
) -> Result<usize> {
    let question = question(number);
    for (asked, server) in servers.iter().enumerate() {
        socket
            .send_to(&question, server)
            .context("cannot send a question")?;
        let end = Instant::now() + timeout;
        let mut answer = [0; 512];
        // Answers to earlier queries can still arrive; they do not extend the wait for this one.
        while let Some(left) = end
            .checked_duration_since(Instant::now())
            .filter(|left| !left.is_zero())
        {
            socket
                .set_read_timeout(Some(left))
                .context("cannot wait for an answer")?;
            match socket.recv_from(&mut answer) {
                Ok((size, from)) if from == *server && is_answer(answer.get(..size), &question) => {
                    return Ok(asked + 1);
                }
                Ok(_) => {}
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    break;
                }
                // Windows reports this if nothing listens on a port.
                Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
                Err(error) => return Err(error).context("cannot wait for an answer"),
            }
        }
    }
    bail!("no server answered")
}

/// True if it is the answer to that question, by its id and flags.
fn is_answer(answer: Option<&[u8]>, question: &[u8]) -> bool {
    answer.is_some_and(|answer| {
        answer.get(..2) == question.get(..2) && answer.get(2..4) == Some(&ANSWERS[..])
    })
}

/// Runs the live server: every name has the address 127.0.0.1.
fn answer(socket: &UdpSocket, is_over: &AtomicBool) -> std::io::Result<()> {
    socket.set_read_timeout(Some(LOOK))?;
    // The longest message of DNS over UDP.
    let mut bytes = [0; 512];
    while !is_over.load(Ordering::SeqCst) {
        let (size, from) = match socket.recv_from(&mut bytes) {
            Ok(received) => received,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                continue;
            }
            Err(error) => return Err(error),
        };
        let Some((header, asked)) = bytes
            .get(..size)
            .and_then(|bytes| bytes.split_first_chunk::<HEADER>())
        else {
            continue;
        };
        // An answer has the number of its question.
        let [first, second, ..] = header;
        let mut answer = vec![*first, *second];
        answer.extend(ANSWERS);
        // One question and one answer: the name of the question, type A, class IN, a minute, four
        // bytes.
        answer.extend([0, 1, 0, 1, 0, 0, 0, 0]);
        answer.extend(asked);
        // The first two bytes point to the name in the question, which follows the header.
        answer.extend([
            0xC0,
            HEADER as u8,
            0,
            1,
            0,
            1,
            0,
            0,
            0,
            60,
            0,
            4,
            127,
            0,
            0,
            1,
        ]);
        socket.send_to(&answer, from)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look_up(timeout: f64, healthy: bool) -> Report {
        let bench = crate::lab::tests::bench();
        DnsArgs {
            names: 3,
            timeout,
            healthy,
            system: false,
        }
        .run(&bench)
        .unwrap()
    }

    #[test]
    fn each_name_waits_for_the_dead_server() {
        let report = look_up(0.1, false);
        assert_eq!(
            (report.of("names"), report.of("timed_out")),
            (Some(3.0), Some(3.0))
        );
        assert!(report.of("total_s").unwrap() >= 0.3, "{report:?}");
        let healthy = look_up(30.0, true);
        assert_eq!(healthy.of("timed_out"), Some(0.0));
        assert!(healthy.of("total_s").unwrap() < 30.0);
        assert_eq!(
            (report.profiles, report.question),
            (&["network"][..], "dump net")
        );
    }

    #[test]
    fn names_for_the_system_are_new_and_are_seen_by_its_resolver() {
        let asked = std::cell::RefCell::new(Vec::new());
        let is_there = |name: &str| {
            asked.borrow_mut().push(name.to_owned());
            name.contains("-1.")
        };
        let amount = DnsArgs {
            names: 3,
            timeout: 2.0,
            healthy: false,
            system: true,
        };
        let report = amount.by_system(&crate::lab::tests::bench(), &is_there);
        let mut asked = asked.into_inner();
        assert!(
            asked.iter().all(|name| name.ends_with(".example")),
            "{asked:?}"
        );
        asked.dedup();
        assert_eq!(asked.len(), 3);
        assert!(
            report.lines[3].contains("3 names, of which 1 were there: "),
            "{report:?}"
        );
        assert_eq!(
            (report.of("late"), report.profiles),
            (Some(0.0), &["dns"][..])
        );
    }
}
