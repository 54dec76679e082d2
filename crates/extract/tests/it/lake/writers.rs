//! Several writers at once.

use std::thread;

use super::NOW;
use super::support::{Farm, marks, one};

#[test]
fn two_writers_and_a_compactor_lose_nothing_and_add_nothing_twice() {
    let farm = Farm::new();
    farm.lake.add(&[one(&farm, 1)]).unwrap();
    // Both have run 9, and each has runs of its own.
    let work = [[2, 9, 3, 4], [5, 6, 9, 7]].map(|runs| runs.map(|run| one(&farm, run)));
    let added: usize = thread::scope(|scope| {
        let writers = work.map(|extracts| {
            let lake = farm.lake.clone();
            scope.spawn(move || {
                let added = extracts.map(|extract| lake.add(&[extract]).unwrap().new.len());
                added.iter().sum::<usize>()
            })
        });
        let lake = farm.lake.clone();
        scope.spawn(move || {
            for _ in 0..3 {
                lake.compact(std::time::Duration::from_secs(3600)).unwrap();
            }
        });
        writers.map(|writer| writer.join().unwrap()).iter().sum()
    });
    assert_eq!(added, 7, "one of both added run 9");
    assert_eq!(farm.lake.check().unwrap().problems, []);
    let counts = marks(&farm);
    let runs: Vec<i64> = counts.keys().copied().collect();
    assert_eq!(runs, [1, 2, 3, 4, 5, 6, 7, 9]);
    assert!(
        counts
            .iter()
            .all(|(run, marks)| *marks == *run as usize + 1),
        "{counts:?}"
    );
    farm.lake.compact(NOW).unwrap();
    farm.lake.vacuum(NOW).unwrap();
    assert_eq!(farm.lake.check().unwrap().problems, []);
    assert_eq!(marks(&farm), counts);
}
