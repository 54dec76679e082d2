//! Answers in the form of Azure, where it differs from that of S3.

use super::remote::{Answer, Asked, CHANGED_HTTP, Kept, decoded, listed};

/// The line between the parts of an answer.
const BOUNDARY: &str = "batchresponse";

pub(crate) fn list(asked: &Asked, kept: &Kept) -> Answer {
    let (files, folders) = listed(asked, kept);
    let mut text = String::from("<EnumerationResults><Blobs>");
    for (key, size) in files {
        text.push_str(&format!(
            "<Blob><Name>{key}</Name><Properties><Last-Modified>{CHANGED_HTTP}</Last-Modified>\
             <Etag>1</Etag><Content-Length>{size}</Content-Length>\
             <Content-Type>application/octet-stream</Content-Type></Properties></Blob>"
        ));
    }
    for folder in folders {
        text.push_str(&format!("<BlobPrefix><Name>{folder}</Name></BlobPrefix>"));
    }
    text.push_str("</Blobs><NextMarker /></EnumerationResults>");
    ("200 OK", Vec::new(), text.into_bytes())
}

/// Deletes the files of a batch. Each is a request of its own in the content.
pub(crate) fn delete(asked: &Asked, kept: &mut Kept) -> Answer {
    let body = String::from_utf8(asked.body.clone()).unwrap();
    let lines = body.lines();
    let requests = lines.filter_map(|line| line.strip_prefix("DELETE /traces/"));
    let mut text = String::new();
    for (number, request) in requests.enumerate() {
        let (key, _) = request.split_once(' ').unwrap();
        let status = match kept.files.remove(&decoded(key)) {
            Some(_) => "202 Accepted",
            None => "404 The specified blob does not exist.",
        };
        text.push_str(&format!(
            "--{BOUNDARY}\r\nContent-Type: application/http\r\nContent-ID: {number}\r\n\r\n\
             HTTP/1.1 {status}\r\n\r\n\r\n"
        ));
    }
    text.push_str(&format!("--{BOUNDARY}--\r\n"));
    let header = format!("Content-Type: multipart/mixed; boundary={BOUNDARY}");
    ("202 Accepted", vec![header], text.into_bytes())
}
