use std::collections::BTreeMap;
use std::ops::ControlFlow;
fn main() {
    let files: Vec<_> = std::env::args().skip(1).collect();
    let s = etwkit_etl::Session::open(
        files
            .iter()
            .map(|f| Box::new(std::fs::read(f).unwrap()) as Box<dyn etwkit_etl::source::ByteSource>)
            .collect(),
    )
    .unwrap();
    let mut m = BTreeMap::new();
    let mut last = i64::MIN;
    let mut bad = 0;
    let t = std::time::Instant::now();
    let w = s
        .for_each(etwkit_etl::Order::Time, |e| {
            *m.entry(e.kind).or_insert(0u64) += 1;
            if e.timestamp < last {
                bad += 1
            }
            last = e.timestamp;
            ControlFlow::Continue(())
        })
        .unwrap();
    println!(
        "{:?} {} {:?} bad {} {:?} {:?} {:?} {:?}",
        files,
        w.events,
        m,
        bad,
        s.damage(),
        w.damage,
        s.files()[0].buffer_counts(),
        t.elapsed()
    );
}
