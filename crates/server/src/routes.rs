//! Routes: the paths and their handlers.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Query, Request, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use etwkit_base::endings;
use futures::StreamExt;
use serde::Deserialize;

use crate::problem::{Problem, Result};
use crate::state::Shared;
use crate::wire::{Info, OpenRequest};
use crate::{
    api, ask, disk_map, explain, findings, flame, folder, guard, lanes, modules, opening, page,
    pivot, pivot_series, recent, recording, rows, schema, search, sql, stack, symbols, tag_choice,
};

/// Largest trace that the page may send; larger ones are opened by their path.
const MAX_UPLOAD: u64 = 16 << 30;

/// Longest time in which each piece of an uploaded trace has to arrive.
const PIECE_TIME: Duration = Duration::from_secs(30);

/// Returns the routes of the page and its interface, protected by the guard.
pub(crate) fn router(shared: &Arc<Shared>) -> Router {
    let api = Router::new()
        .route("/info", api::known(info))
        .route("/schema", get(schema::answer))
        .route("/lanes", api::ask(lanes::lanes))
        .route("/timeline", api::ask_arrow(lanes::timeline))
        .route("/series", api::ask(lanes::series))
        .route("/moment", api::ask(lanes::moment))
        .route("/flame", api::ask(flame::flame))
        .route("/flame_chart", api::ask(flame::chart))
        .route("/stack", api::ask(stack::stack))
        .route("/pivot", api::ask(pivot::pivot))
        .route("/pivot_series", api::ask(pivot_series::pivot_series))
        .route("/disk_map", api::ask(disk_map::map))
        .route("/disk_cell", api::ask(disk_map::cell))
        .route("/modules", api::ask(modules::modules))
        .route("/rows", api::ask(rows::rows))
        .route("/search", api::ask(search::search))
        .route("/ask", api::ask(ask::ask))
        .route("/explain", api::ask_at_length(explain::explain))
        .route("/findings", api::ask_at_length(findings::findings))
        .route("/sql", api::ask(sql::sql))
        .route("/folder", api::ask(folder::folder))
        .route("/open", post(open))
        .route("/upload", post(upload))
        .route("/demo", post(demo))
        .route("/record", api::ask(recording::show))
        .route("/record/start", api::ask(recording::start))
        .route("/record/mark", api::ask(recording::mark))
        .route("/record/stop", api::ask(recording::stop))
        .route("/record/cancel", api::ask(recording::cancel))
        .route("/symbols", api::ask(symbols::show))
        .route("/symbols/load", api::ask(symbols::load))
        .route("/symbols/cancel", api::ask(symbols::cancel))
        .route("/tags", api::ask(tag_choice::show))
        .route("/tags/own", api::ask(tag_choice::own))
        .route("/tags/file", post(tag_choice::file))
        .route("/tags/built_in", api::ask(tag_choice::built_in))
        .route("/tags/text", post(tag_choice::text))
        .fallback(async || Problem::not_found("there is no question of this name"));
    Router::new()
        .nest("/api/v1", api)
        // Without this route the fallback below would answer, whose errors are not JSON.
        .route(
            "/api/{*rest}",
            axum::routing::any(async || Problem::not_found("there is no question of this name")),
        )
        .fallback(page::file)
        .layer(axum::middleware::from_fn_with_state(
            shared.clone(),
            guard::guard,
        ))
        .with_state(shared.clone())
}

fn info(shared: &Shared) -> Info {
    Info {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        traces: shared.infos(),
        recent: recent::read(&shared.cache_folder),
        folders: shared
            .folders()
            .iter()
            .map(|folder| folder.display().to_string())
            .collect(),
    }
}

fn opened(shared: &Arc<Shared>, path: Result<PathBuf>) -> Response {
    match path.and_then(|path| opening::begin(shared, &path)) {
        Ok(()) => api::json(&info(shared)),
        Err(problem) => problem.into_response(),
    }
}

async fn open(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let request = api::body(request.into_body())
        .await
        .and_then(|body| api::parse::<OpenRequest>(&body));
    opened(&shared, request.map(|request| PathBuf::from(request.path)))
}

async fn demo(State(shared): State<Arc<Shared>>) -> Response {
    let Some(demo) = shared.demo.clone() else {
        return Problem::not_found("this program has no demonstration").into_response();
    };
    let made = api::answered_by(&shared, shared.limits.question_time, move |_| Ok(demo()?)).await;
    opened(&shared, made)
}

/// Query parameters of an upload: the name of the trace.
#[derive(Deserialize)]
struct Named {
    name: String,
}

async fn upload(
    State(shared): State<Arc<Shared>>,
    Query(named): Query<Named>,
    request: Request,
) -> Response {
    let received = receive(&shared, &named.name, request.into_body()).await;
    opened(&shared, received)
}

/// Writes an uploaded trace into a folder of its own, under its own name.
async fn receive(shared: &Shared, name: &str, body: Body) -> Result<PathBuf> {
    let name = Path::new(name)
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or("");
    // The name comes from the page: it must not lead out of the folder, nor name a stream of a file
    // on Windows.
    let is_plain = !name.is_empty() && !name.contains(['/', '\\', ':', '\0']) && name.len() <= 200;
    if !is_plain || !endings::is_trace(name) {
        return Err(Problem::bad(format!(
            "a trace that is sent has a name that ends in {}",
            endings::TRACES.join(", ")
        )));
    }
    // A folder for each trace, since two may have the same name, and a trace is shown by its name.
    let folder = shared.uploads.join(crate::token::Token::new()?.as_str());
    std::fs::create_dir_all(&folder)?;
    let path = folder.join(name);
    let received = pieces(body, &path).await;
    if received.is_err() {
        // A remaining folder is removed when the server ends, at the latest.
        let _ = std::fs::remove_dir_all(&folder);
    }
    received.map(|()| path)
}

async fn pieces(body: Body, path: &Path) -> Result<()> {
    let (mut file, mut pieces, mut bytes) =
        (std::fs::File::create(path)?, body.into_data_stream(), 0_u64);
    while let Some(piece) = tokio::time::timeout(PIECE_TIME, pieces.next())
        .await
        .map_err(|_| Problem::slow())?
    {
        let piece = piece.map_err(|_| Problem::bad("the trace did not arrive as a whole"))?;
        bytes = bytes.saturating_add(u64::try_from(piece.len()).unwrap_or(u64::MAX));
        if bytes > MAX_UPLOAD {
            return Err(Problem::too_large("the trace is too large to be sent")
                .with_hint("open it by its path"));
        }
        // Writing blocks, and there are two threads for all connections.
        tokio::task::block_in_place(|| file.write_all(&piece))?;
    }
    Ok(())
}
