//! Flame graphs, as readers of XML see them.

use etwkit_export::{ExportRequest, format};
use etwkit_question::ProcessQuery;
use etwkit_question::range::Range;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::made_stacks::{WEIGHT, session};

/// A frame: name and numbers of its title, place and size.
pub(crate) struct Frame {
    pub(crate) name: String,
    /// Its weight, and its own part of it.
    pub(crate) ns: (i64, Option<i64>),
    x: f64,
    y: f64,
    width: f64,
}

pub(crate) struct Picture {
    pub(crate) frames: Vec<Frame>,
    /// Texts above the frames.
    pub(crate) lines: Vec<String>,
}

/// Elements that a picture has, with the attributes that they may have.
const ELEMENTS: [(&str, &[&str]); 6] = [
    ("svg", &["xmlns", "width", "height", "viewBox"]),
    ("title", &[]),
    ("desc", &[]),
    ("g", &["font-family", "font-size", "fill"]),
    ("rect", &["x", "y", "width", "height", "fill"]),
    ("text", &["x", "y", "xml:space"]),
];

fn check(element: &BytesStart<'_>) -> String {
    let name = element.name().as_ref().to_owned();
    let allowed = ELEMENTS.iter().find(|(known, _)| *known == name);
    let (_, attributes) = allowed.unwrap_or_else(|| panic!("an element {name}"));
    for attribute in element.attributes() {
        let key = attribute.unwrap().key.as_ref().to_owned();
        assert!(attributes.contains(&key.as_str()), "{name} has {key}");
    }
    name
}

fn number(element: &BytesStart<'_>, name: &str) -> f64 {
    let value = element
        .try_get_attribute(name)
        .unwrap()
        .unwrap_or_else(|| panic!("no {name}"))
        .value;
    value.parse().unwrap()
}

/// Parses nanoseconds from a number of milliseconds before ` ms`.
fn ns(text: &str) -> i64 {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    whole.parse::<i64>().unwrap() * 1_000_000 + format!("{fraction:0<6}").parse::<i64>().unwrap()
}

impl Picture {
    /// Reads a picture, which may hold nothing but the elements that it needs, and checks that the
    /// frames on a frame add up to it.
    pub(crate) fn read(text: &str) -> Self {
        let mut reader = Reader::from_str(text);
        reader.config_mut().check_end_names = true;
        let (mut path, mut texts) = (Vec::new(), Vec::<String>::new());
        let mut picture = Self {
            frames: Vec::new(),
            lines: Vec::new(),
        };
        loop {
            match reader.read_event().unwrap() {
                Event::Eof => break,
                Event::Start(element) => {
                    path.push(check(&element));
                    texts.push(String::new());
                }
                Event::Empty(element) => {
                    if check(&element) == "rect" && path.len() == 3 {
                        let title = texts[2].clone();
                        picture.frames.push(Frame::of(&element, &title));
                    }
                }
                Event::End(_) => {
                    path.pop();
                    let text = texts.pop().unwrap();
                    match (path.len(), path.last().map(String::as_str)) {
                        // The title of a frame.
                        (3, Some("g")) if texts[2].is_empty() => texts[2] = text,
                        (2, Some("g")) if !text.is_empty() && !text.contains(" %") => {
                            picture.lines.push(text);
                        }
                        _ => {}
                    }
                }
                Event::Text(text) => texts.last_mut().into_iter().for_each(|all| {
                    all.push_str(&text);
                }),
                Event::GeneralRef(name) => {
                    let c = match (name.resolve_char_ref().unwrap(), &*name) {
                        (Some(c), _) => c,
                        (None, "lt") => '<',
                        (None, "gt") => '>',
                        (None, "amp") => '&',
                        (None, "quot") => '"',
                        (None, other) => panic!("&{other};"),
                    };
                    texts.last_mut().unwrap().push(c);
                }
                Event::Decl(_) => {}
                other => panic!("{other:?}"),
            }
        }
        assert!(path.is_empty());
        picture.check();
        picture
    }

    /// Checks that each frame is before the frames on it, and these before its neighbor.
    fn check(&self) {
        for (place, frame) in self.frames.iter().enumerate() {
            let rest = self.frames[place + 1..]
                .iter()
                .take_while(|other| other.y < frame.y);
            let (mut ns, mut width) = (0, 0.0);
            for other in rest.filter(|other| (other.y - (frame.y - 17.0)).abs() < 0.5) {
                let is_inside = other.x >= frame.x - 0.0005
                    && other.x + other.width <= frame.x + frame.width + 0.0005;
                assert!(is_inside, "{} on {}", other.name, frame.name);
                ns += other.ns.0;
                width += other.width;
            }
            if let (weight, Some(own)) = frame.ns {
                assert_eq!(ns + own, weight, "{}", frame.name);
                let own_width = frame.width * own as f64 / weight.max(1) as f64;
                assert!(
                    (width + own_width - frame.width).abs() < 0.01,
                    "{}",
                    frame.name
                );
            }
        }
    }

    /// Weight of the outermost frames.
    pub(crate) fn total_ns(&self) -> i64 {
        let bottom = self.frames.iter().map(|frame| frame.y).fold(0.0, f64::max);
        self.frames
            .iter()
            .filter(|frame| frame.y >= bottom)
            .map(|frame| frame.ns.0)
            .sum()
    }
}

impl Frame {
    fn of(rect: &BytesStart<'_>, title: &str) -> Self {
        let lines: Vec<&str> = title.split('\n').collect();
        let [name, weight, own @ ..] = lines.as_slice() else {
            panic!("{title:?}")
        };
        let (weight, percent) = weight.split_once(" ms, ").unwrap();
        assert!(percent.ends_with(" %"), "{title:?}");
        let own = own
            .first()
            .map(|own| ns(own.split_once(" ms of it in itself").unwrap().0));
        assert_eq!(
            own.is_none(),
            name.starts_with('+') && name.ends_with(" not drawn"),
            "{title:?}"
        );
        Self {
            name: (*name).to_owned(),
            ns: (ns(weight), own),
            x: number(rect, "x"),
            y: number(rect, "y"),
            width: number(rect, "width"),
        }
    }
}

fn written(request: &ExportRequest) -> String {
    let mut out = Vec::new();
    request
        .write(format("svg").unwrap(), &session(), &mut out)
        .unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn widths_are_weights_and_the_head_says_of_what() {
    let roots = ExportRequest {
        name: "shop".into(),
        process_roots: true,
        ..ExportRequest::default()
    };
    let picture = Picture::read(&written(&roots));
    assert_eq!(picture.total_ns(), 6 * WEIGHT);
    let frames: Vec<String> = picture
        .frames
        .iter()
        .map(|f| format!("{} {} {:.1}", f.name, f.ns.0 / WEIGHT, f.width))
        .collect();
    assert_eq!(
        frames,
        [
            "shop.exe (8) 4 786.7",
            "shop.dll!main 4 786.7",
            "shop.dll!a 1 196.7",
            "shop.dll!b 2 393.3",
            "db.exe (12) 2 393.3",
            "shop.dll!main 1 196.7",
            "shop.dll!b 1 196.7",
            "shop.dll+0x40 1 196.7",
        ]
    );
    assert_eq!(picture.lines[0], "shop: 6.0006 ms");
    assert_eq!(picture.lines[1], "sampled CPU; the whole trace");
    assert!(
        picture.lines[2].ends_with("every frame is drawn"),
        "{:?}",
        picture.lines
    );
    assert!(
        picture.lines[3].starts_with("shop.dll 6.0006 ms"),
        "{:?}",
        picture.lines
    );
}

#[test]
fn a_picture_of_nothing_is_a_picture() {
    let processes = ProcessQuery {
        process: Some("nobody".into()),
        ..ProcessQuery::default()
    };
    let request = ExportRequest {
        processes,
        name: "none".into(),
        ..ExportRequest::default()
    };
    let picture = Picture::read(&written(&request));
    assert_eq!(
        (picture.frames.len(), picture.lines[0].as_str()),
        (0, "none: 0 ms")
    );
}

#[test]
fn the_part_of_the_trace_is_said() {
    let time = Range {
        min: 0,
        max: 500_000,
    };
    let picture = Picture::read(&written(&ExportRequest {
        time,
        ..ExportRequest::default()
    }));
    assert_eq!(
        picture.lines[1],
        "sampled CPU; 0.000000..0.000500 s of the trace"
    );
}

#[test]
fn python_reads_a_picture() {
    let Some(mut python) = etwkit_testkit::python("pictures::python_reads_a_picture") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.svg");
    std::fs::write(
        &file,
        written(&ExportRequest {
            process_roots: true,
            ..ExportRequest::default()
        }),
    )
    .unwrap();
    let count = "import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
names = ['{http://www.w3.org/2000/svg}' + name for name in ('title', 'rect')]
print(root.tag, *[len(list(root.iter(name))) for name in names])";
    let printed = etwkit_testkit::output_of(python.args(["-c", count]).arg(&file));
    // The title of the picture and of eight frames; the ground, a colour of the legend, and frames.
    assert_eq!(printed.trim(), "{http://www.w3.org/2000/svg}svg 9 10");
}
