//! x
fn main() {
    let files: Vec<_> = std::env::args().skip(1).collect();
    let s = etwkit_etl::Session::open(
        files
            .iter()
            .map(|f| Box::new(std::fs::read(f).unwrap()) as Box<dyn etwkit_etl::source::ByteSource>)
            .collect(),
    )
    .unwrap();
    let m = etwkit_trace::summary::Summary::read(&s).unwrap();
    println!("{}", serde_json::to_string(&m.sections).unwrap());
}
