//! Access control: permitted clients and requests.

use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::json;

use super::support::{Place, read};

#[test]
fn only_the_page_of_this_server_may_ask() {
    let place = Place::new();
    let port = place.running.address.port();
    let [host, origin, token] = place.lines();
    let info = |lines: &[&str]| place.raw("GET /api/v1/info", lines, b"").status;
    assert_eq!(info(&[&host, &origin, &token]), 200);
    assert_eq!(info(&[&host, &token]), 200, "programs have no origin");
    for name in ["localhost", "[::1]"] {
        assert_eq!(info(&[&format!("Host: {name}:{port}"), &token]), 200);
    }
    assert_eq!(info(&[&host]), 401);
    assert_eq!(info(&[&host, "Authorization: Bearer 0"]), 401);
    assert_eq!(info(&[&host, &format!("{token}0")]), 401);
    for wrong in [
        "Host: evil.example",
        "Host: 127.0.0.1",
        "Host: 127.0.0.1:1",
        "Host: localhost.evil.example",
    ] {
        assert_eq!(info(&[wrong, &token]), 403, "{wrong}");
    }
    assert_eq!(info(&[&host, "Host: evil.example", &token]), 403);
    for wrong in [
        "http://evil.example",
        "null",
        &format!("https://127.0.0.1:{port}"),
        "http://127.0.0.1:1",
    ] {
        assert_eq!(
            info(&[&host, &format!("Origin: {wrong}"), &token]),
            403,
            "{wrong}"
        );
    }
    // The page itself is no secret, but it is answered only under a name of this server.
    assert_eq!(place.raw("GET /", &[&host], b"").status, 200);
    assert_eq!(place.raw("GET /", &["Host: evil.example"], b"").status, 403);
}

#[test]
fn answers_forbid_what_the_page_does_not_need() {
    let place = Place::new();
    let [host, _, token] = place.lines();
    for path in ["GET /", "GET /api/v1/info", "GET /none", "GET /api/none"] {
        let reply = place.raw(path, &[&host, &token], b"");
        let policy = reply.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with("default-src 'none'") && !policy.contains("unsafe"),
            "{path}"
        );
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(reply.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(reply.header("access-control-allow-origin"), None);
        assert!(
            !path.contains("api") || reply.header("cache-control") == Some("no-store"),
            "{path}"
        );
    }
    let reply = place.raw("GET /api/v1/info", &[&host], b"");
    assert_eq!(reply.json()["code"], "unauthorized");
}

#[test]
fn no_path_leads_out_of_the_page() {
    let place = Place::new();
    let [host, _, token] = place.lines();
    for path in [
        "/../Cargo.toml",
        "/..%2f..%2fetc/passwd",
        "//etc/passwd",
        "/%2e%2e/",
        "/api/v1/../../x",
        "/api/v1/x",
    ] {
        assert_eq!(
            place
                .raw(&format!("GET {path}"), &[&host, &token], b"")
                .status,
            404,
            "{path}"
        );
    }
    assert_eq!(place.raw("POST /", &[&host], b"").status, 405);
    let reply = place.send("upload?name=..%2F..%2Fx.exe", b"x");
    assert_eq!(
        (reply.status, reply.json()["code"].clone()),
        (400, json!("bad_request"))
    );
}

#[test]
fn requests_have_a_size_and_a_form() {
    let place = Place::new();
    // A body that is too long is refused before all of it has arrived.
    let lines = place.lines().join("\r\n");
    let head = format!(
        "POST /api/v1/sql HTTP/1.1\r\n{lines}\r\nConnection: close\r\nContent-Length: 2000000\r\n\r\n"
    );
    let reply = read(&mut place.say(head.as_bytes()));
    assert_eq!(
        (reply.status, reply.json()["code"].clone()),
        (413, json!("limit"))
    );
    assert_eq!(place.send("sql", b"{").status, 400);
    assert_eq!(place.post("sql", &json!({"trace": 0})).status, 400);
}

#[test]
fn slow_clients_hold_nobody_up() {
    let place = Place::new();
    let mut slow: Vec<_> = (0..50).map(|_| place.say(b"GET / HT")).collect();
    let begun = Instant::now();
    assert_eq!(place.get("info").status, 200);
    assert!(begun.elapsed() < Duration::from_secs(5));
    // The connections are closed in the end.
    let _ = slow[0].write_all(b"T");
    let mut bytes = Vec::new();
    let _ = std::io::Read::read_to_end(&mut slow[0], &mut bytes);
    assert!(begun.elapsed() < Duration::from_secs(60));
    let mut stalled = place.say(b"POST /api/v1/sql HTTP/1.1\r\nContent-Length: 5\r\n\r\n");
    assert_eq!(read(&mut stalled).status, 403, "without a name");
}

#[test]
fn statements_only_read() {
    let place = Place::with_trace();
    let ask = |sql: &str| place.post("sql", &json!({"trace": 0, "sql": sql, "limit": 10}));
    for sql in [
        "DELETE FROM process",
        "CREATE TABLE x AS SELECT 1",
        "COPY process TO '/tmp/x.csv'",
        "CREATE EXTERNAL TABLE x STORED AS CSV LOCATION '/etc/passwd'",
        "SET datafusion.execution.batch_size = 1",
        "SELECT 1; SELECT 2",
        "INSERT INTO process SELECT * FROM process",
    ] {
        let reply = ask(sql);
        assert_eq!(
            (reply.status, reply.json()["code"].clone()),
            (400, json!("bad_request")),
            "{sql}"
        );
    }
    let reply = ask("SELECT * FROM '/etc/passwd'");
    assert_eq!(reply.status, 400);
    // Strings stay strings.
    let hostile = "SELECT '</script><img src=x onerror=alert(1)>', chr(27), chr(8238)";
    let answer = place.answer("sql", &json!({"trace": 0, "sql": hostile, "limit": 10}));
    assert_eq!(
        answer["tables"][0]["rows"][0],
        json!([
            "</script><img src=x onerror=alert(1)>",
            "\u{1b}",
            "\u{202e}"
        ])
    );
    let many = "SELECT ts_ns FROM cpu_sample";
    let answer = place.answer("sql", &json!({"trace": 0, "sql": many, "limit": 10}));
    let table = &answer["tables"][0];
    assert_eq!(
        (table["rows"].as_array().unwrap().len(), &table["is_cut"]),
        (10, &json!(true))
    );
    assert_eq!(
        place
            .post("sql", &json!({"trace": 0, "sql": many, "limit": 10_001}))
            .status,
        400
    );
    assert_eq!(
        place
            .post("sql", &json!({"trace": 7, "sql": many, "limit": 1}))
            .status,
        404
    );
}
