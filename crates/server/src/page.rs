//! The files of the page, which are a part of the program.

use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use etwkit_extract::digest;

/// A file of the page.
struct File {
    /// Its name in the root.
    name: &'static str,
    bytes: &'static [u8],
    /// Its bytes packed with Brotli, where the build packed them.
    packed: Option<&'static [u8]>,
}

/// The files; empty if the program was built without the page.
static FILES: &[File] = &include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// The page itself.
const INDEX: &str = "index.html";

/// Page that is shown if the program was built without one.
const NO_PAGE: &str = "<!doctype html>
<html lang=\"en\">
<head><meta charset=\"utf-8\"><title>etwkit</title></head>
<body>
<h1>This program was built without the page</h1>
<p>Its server answers, but there is nothing to look at. To have the page, install Node 20 or later, then in the
sources of etwkit:</p>
<pre>cd ui
npm ci
npm run build
cd ..
cargo build --release</pre>
</body>
</html>
";

/// Note for a user who starts a server without the page.
const NO_PAGE_NOTE: &str = "this program was built without the page: `etwkit docs view` says how to build it; \
    the server answers programs";

/// True if the program contains the page.
pub(crate) fn is_there() -> bool {
    has_index(FILES)
}

/// Returns the note to show if the program lacks the page.
pub(crate) fn note() -> Option<&'static str> {
    note_of(FILES)
}

fn note_of(files: &[File]) -> Option<&'static str> {
    (!has_index(files)).then_some(NO_PAGE_NOTE)
}

fn has_index(files: &[File]) -> bool {
    files.iter().any(|file| file.name == INDEX)
}

/// Answers with a file of the page.
pub(crate) async fn file(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    answer(FILES, &method, &uri, &headers)
}

fn answer(files: &'static [File], method: &Method, uri: &Uri, headers: &HeaderMap) -> Response {
    if method != Method::GET && method != Method::HEAD {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    // Names are compared literally: no path leads to another file.
    let name = match uri.path() {
        "/" => INDEX,
        path => path.strip_prefix('/').unwrap_or(path),
    };
    match files.iter().find(|file| file.name == name) {
        Some(file) => file.answer(headers),
        None if name == INDEX => (
            [(header::CONTENT_TYPE, "text/html; charset=utf-8")],
            NO_PAGE,
        )
            .into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

impl File {
    fn answer(&self, headers: &HeaderMap) -> Response {
        let packed = self.packed.filter(|_| takes(headers, "br"));
        let bytes = packed.unwrap_or(self.bytes);
        // Hash of the sent bytes: the compressed form and the plain one are different answers for a
        // cache.
        let tag = format!("\"{}\"", digest(&[bytes]));
        let common = [
            (header::ETAG, tag.as_str()),
            (header::CACHE_CONTROL, self.caching()),
            (header::VARY, "Accept-Encoding"),
        ];
        if headers
            .get(header::IF_NONE_MATCH)
            .is_some_and(|known| known.as_bytes() == tag.as_bytes())
        {
            return (StatusCode::NOT_MODIFIED, common).into_response();
        }
        let mut response = (common, [(header::CONTENT_TYPE, self.kind())], bytes).into_response();
        if packed.is_some() {
            let brotli = axum::http::HeaderValue::from_static("br");
            response
                .headers_mut()
                .insert(header::CONTENT_ENCODING, brotli);
        }
        response
    }

    /// Returns the caching rule: files with a hash in their name never change, and the page names
    /// the files of its version.
    fn caching(&self) -> &'static str {
        // The start page names the files of its version, so browsers have to check it each time.
        if self.name == INDEX {
            "no-cache"
        } else {
            "max-age=31536000, immutable"
        }
    }

    fn kind(&self) -> &'static str {
        match self.name.rsplit_once('.').map_or("", |(_, ending)| ending) {
            "html" => "text/html; charset=utf-8",
            "js" => "text/javascript; charset=utf-8",
            "css" => "text/css; charset=utf-8",
            "svg" => "image/svg+xml",
            "json" => "application/json",
            "woff2" => "font/woff2",
            "png" => "image/png",
            _ => "application/octet-stream",
        }
    }
}

/// True if the browser accepts this content encoding.
pub(crate) fn takes(headers: &HeaderMap, encoding: &str) -> bool {
    let accepted = headers
        .get_all(header::ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok());
    accepted
        .flat_map(|value| value.split(','))
        .any(|one| one.trim() == encoding)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &[File] = &[File {
        name: INDEX,
        bytes: b"<!doctype html>page",
        packed: None,
    }];

    /// Returns the status, type and text of an answer.
    fn asked(files: &'static [File], method: &Method, path: &str) -> (u16, String, String) {
        let response = answer(files, method, &path.parse().unwrap(), &HeaderMap::new());
        let kind = response.headers().get(header::CONTENT_TYPE);
        let kind = kind
            .map(|kind| kind.to_str().unwrap().to_owned())
            .unwrap_or_default();
        let status = response.status().as_u16();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let body = runtime
            .block_on(axum::body::to_bytes(response.into_body(), 1 << 20))
            .unwrap();
        (status, kind, String::from_utf8(body.to_vec()).unwrap())
    }

    #[test]
    fn a_program_without_the_page_says_how_to_build_it() {
        let (status, kind, text) = asked(&[], &Method::GET, "/");
        assert_eq!((status, kind.as_str()), (200, "text/html; charset=utf-8"));
        for said in [
            "built without the page",
            "Node 20",
            "npm ci",
            "npm run build",
            "cargo build --release",
        ] {
            assert!(text.contains(said), "{said}: {text}");
        }
        assert_eq!(
            asked(&[], &Method::GET, "/index.html"),
            (status, kind, text)
        );
        assert_eq!(asked(&[], &Method::GET, "/app.js").0, 404);
        assert_eq!(asked(&[], &Method::POST, "/").0, 405);
    }

    #[test]
    fn a_program_with_the_page_shows_it() {
        let (status, kind, text) = asked(PAGE, &Method::GET, "/");
        assert_eq!((status, kind.as_str()), (200, "text/html; charset=utf-8"));
        assert_eq!(text, "<!doctype html>page");
    }

    #[test]
    fn whoever_starts_a_program_without_the_page_gets_a_note() {
        assert_eq!(
            (note_of(PAGE), has_index(PAGE), has_index(&[])),
            (None, true, false)
        );
        let note = note_of(&[]).unwrap();
        assert!(
            note.contains("built without the page") && note.contains("`etwkit docs view`"),
            "{note}"
        );
        let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/view.md");
        assert!(
            std::fs::read_to_string(docs)
                .unwrap()
                .contains("## Without the page")
        );
    }
}
