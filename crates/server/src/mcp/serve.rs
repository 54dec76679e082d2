//! Serving over the standard input and output, or over HTTP, until the client disconnects or Ctrl-C
//! is pressed.

use std::io::{Read as _, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use etwkit_engine::Engine;
use etwkit_terminal::Exit;
use etwkit_terminal::interrupt::Stoppable;
use rmcp::ServiceExt as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, WriteHalf};
use tokio::runtime::{Builder, Handle, Runtime};

use crate::mcp::args::McpArgs;
use crate::mcp::handler::Handler;
use crate::mcp::http;
use crate::mcp::list::all;
use crate::mcp::shared::{RunLine, Shared};

/// Size of the pipe between the protocol and the standard output, in bytes.
const PIPE: usize = 64 << 10;

/// Polling interval for the Ctrl-C flag.
const LOOK: Duration = Duration::from_millis(100);

/// Serves until the client disconnects or the command is interrupted. Output goes to `out`: the
/// messages of the protocol, or the address of the server.
///
/// # Errors
/// The address cannot be listened on, the system starts no threads, or the answer cannot be
/// written.
pub fn run(args: &McpArgs, engine: Engine, run_line: RunLine, out: &mut dyn Write) -> Result<Exit> {
    let folders = real_folders(&args.folder)?;
    let shared = Shared::new(engine, all(args.etwanalyzer), folders, run_line);
    // Two threads pass messages on; each request has a thread of its own.
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("mcp")
        .enable_all()
        .build()?;
    let exit = match args.http {
        Some(address) => over_http(&runtime, &shared, address, out),
        None => over_stdio(&runtime, &shared, out),
    };
    // A read of the standard input may still be blocked, and pending computations have no receiver
    // any more.
    runtime.shutdown_background();
    exit
}

/// Returns folders without links in their paths.
fn real_folders(folders: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut real = Vec::new();
    for folder in folders {
        let place = folder.canonicalize();
        let place = place.with_context(|| format!("cannot open {}", folder.display()))?;
        anyhow::ensure!(place.is_dir(), "{} is not a folder", folder.display());
        real.push(place);
    }
    Ok(real)
}

/// Serves through a pipe: a thread reads the standard input, which blocks, and this thread has the
/// standard output.
fn over_stdio(runtime: &Runtime, shared: &Arc<Shared>, out: &mut dyn Write) -> Result<Exit> {
    // Answers go through a pipe to this thread, the only one that may write to the output.
    let (ours, theirs) = tokio::io::duplex(PIPE);
    let handler = Handler(shared.clone());
    let serving = runtime.spawn(async move {
        let running = handler
            .serve(ours)
            .await
            .map_err(|error| error.to_string())?;
        running.waiting().await.map_err(|error| error.to_string())
    });
    let (mut messages, requests) = tokio::io::split(theirs);
    let runtime_of_input = runtime.handle().clone();
    // A read of the standard input cannot be interrupted. Its thread is abandoned when the program
    // ends.
    std::thread::Builder::new()
        .name("input".to_owned())
        .spawn(move || hand_on(&runtime_of_input, requests))?;
    runtime.block_on(async {
        let mut bytes = vec![0; PIPE];
        loop {
            let count = messages.read(&mut bytes).await?;
            let Some(message) = bytes.get(..count).filter(|message| !message.is_empty()) else {
                break;
            };
            // Messages must not wait in a buffer: the client waits for each answer.
            out.write_all(message)?;
            out.flush()?;
        }
        std::io::Result::Ok(())
    })?;
    match runtime
        .block_on(serving)
        .context("the server broke off: this is a defect of etwkit")?
    {
        Ok(_) => Ok(Exit::Answered),
        Err(why) => {
            let hint = "an agent starts this command and talks to it: see `etwkit docs mcp`";
            Err(anyhow::anyhow!(
                "the client went before it said what it wants ({why}); {hint}"
            ))
        }
    }
}

/// Forwards the bytes of the standard input until it ends, and then signals its end.
fn hand_on(runtime: &Handle, mut requests: WriteHalf<DuplexStream>) {
    let mut input = std::io::stdin().lock();
    let mut bytes = vec![0; PIPE];
    while let Ok(count @ 1..) = input.read(&mut bytes) {
        let (request, _) = bytes.split_at(count);
        // A server that has ended no longer reads.
        if runtime.block_on(requests.write_all(request)).is_err() {
            return;
        }
    }
    let _ = runtime.block_on(requests.shutdown());
}

fn over_http(
    runtime: &Runtime,
    shared: &Arc<Shared>,
    address: std::net::SocketAddr,
    out: &mut dyn Write,
) -> Result<Exit> {
    let (address, token) = http::start(runtime, shared, address)?;
    writeln!(out, "Agents ask http://{address}/mcp with the header")?;
    writeln!(out, "Authorization: Bearer {token}")?;
    writeln!(out, "Only this machine can reach it. Ctrl-C ends it.")?;
    out.flush()?;
    let stoppable = Stoppable::begin();
    while !stoppable.is_asked_to_stop() {
        std::thread::sleep(LOOK);
    }
    Ok(Exit::Answered)
}
