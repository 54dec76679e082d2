//! Lists of folders.

use std::fs;

use serde_json::{Value, json};

use super::support::Place;

/// The recording of this name in a list.
fn named<'a>(list: &'a Value, name: &str) -> &'a Value {
    let all = list["recordings"].as_array().unwrap();
    all.iter()
        .find(|one| one["name"] == name)
        .unwrap_or_else(|| panic!("{name} is not in {list}"))
}

#[test]
fn a_folder_is_listed_with_what_its_heads_say() {
    let place = Place::new();
    let runs = place.folder.path().join("runs");
    fs::create_dir_all(runs.join("older")).unwrap();
    let (whole, cut) = (place.trace("runs/whole.etl"), runs.join("cut.etl"));
    let bytes = fs::read(&whole).unwrap();
    fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    fs::write(runs.join("broken.etl"), "no trace at all").unwrap();
    fs::write(runs.join("packed.zip"), "not looked into").unwrap();
    fs::write(runs.join("notes.txt"), "of no interest").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("gone.etl", runs.join("link.etl")).unwrap();

    let info = place.answer("open", &json!({"path": runs}));
    assert_eq!(
        (&info["traces"], &info["folders"]),
        (&json!([]), &json!([runs]))
    );
    let list = place.answer("folder", &json!({"path": runs}));
    assert_eq!(
        (&list["name"], &list["above"]),
        (&json!("runs"), &Value::Null)
    );
    assert_eq!(list["folders"][0]["name"], "older");
    assert_eq!(list["recordings"].as_array().unwrap().len(), 4);
    let listed = named(&list, "whole.etl");
    assert_eq!(listed["bytes"], bytes.len());
    assert!(listed["start_filetime"].as_str().unwrap() > "13");
    assert_eq!(
        (
            &listed["is_extracted"],
            &listed["computer"],
            &listed["gaps"],
            &listed["failure"]
        ),
        (&json!(false), &Value::Null, &Value::Null, &Value::Null)
    );
    let gaps = named(&list, "cut.etl")["gaps"].as_str().unwrap();
    assert!(gaps.contains("buffers are missing"), "{gaps}");
    let failure = named(&list, "broken.etl")["failure"].as_str().unwrap();
    assert!(failure.contains("broken.etl"), "{failure}");
    // An archive would have to be unpacked.
    assert_eq!(named(&list, "packed.zip")["is_extracted"], Value::Null);

    place.open(&whole);
    let listed = named(&place.answer("folder", &json!({"path": runs})), "whole.etl").clone();
    assert_eq!(listed["is_extracted"], true);
    assert!(!listed["computer"].as_str().unwrap().is_empty());
}

#[test]
fn a_list_leads_up_to_the_folder_that_was_opened_and_no_further() {
    let place = Place::new();
    let runs = place.folder.path().join("runs");
    let older = runs.join("older");
    fs::create_dir_all(&older).unwrap();
    place.answer("open", &json!({"path": runs}));
    let closed = place.post("folder", &json!({"path": older}));
    assert_eq!(
        (closed.status, closed.json()["code"].clone()),
        (404, json!("not_found"))
    );
    let info = place.answer("open", &json!({"path": older}));
    assert_eq!(info["folders"], json!([older, runs]));
    let list = place.answer("folder", &json!({"path": older}));
    assert_eq!(
        (&list["above"], &list["recordings"]),
        (&json!(runs), &json!([]))
    );
    assert_eq!(
        place.answer("folder", &json!({"path": runs}))["above"],
        Value::Null
    );
}
