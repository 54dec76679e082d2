//! Which files of a crate import which others, read from their `use` lines.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A file of a crate as the path of its module; empty for the crate itself.
type Module = Vec<String>;

/// An import: whether it is handed on (`pub use`), and the path with its names apart.
type Import = (bool, Vec<String>);

/// Files that import each other in a circle, for each circle.
pub(crate) fn circles(source: &Path) -> Vec<BTreeSet<String>> {
    let mut files = BTreeMap::new();
    collect(source, &mut Module::new(), &mut files);
    let graph = graph(&files);
    let reached: BTreeMap<&Module, BTreeSet<&Module>> = graph
        .keys()
        .map(|from| (from, reached(from, &graph)))
        .collect();
    let circle = |from: &Module| -> BTreeSet<String> {
        let back = reached[from]
            .iter()
            .filter(|to| reached[**to].contains(from));
        back.map(|to| to.join("::")).collect()
    };
    let all: BTreeSet<BTreeSet<String>> = graph.keys().map(circle).collect();
    all.into_iter().filter(|circle| circle.len() > 1).collect()
}

/// The files below a folder, with their text outside of comments and tests. A folder whose module is written
/// in the file above it counts as an empty file.
fn collect(folder: &Path, module: &mut Module, files: &mut BTreeMap<Module, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            module.push(name);
            files.entry(module.clone()).or_default();
            collect(&path, module, files);
            module.pop();
        } else if path.extension().is_some_and(|ending| ending == "rs") && name != "main" {
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
            let lines = code.lines().map(|line| line.split("//").next().unwrap());
            let own = if matches!(&*name, "lib" | "mod") {
                None
            } else {
                Some(name)
            };
            files.insert(
                module.iter().cloned().chain(own).collect(),
                lines.collect::<Vec<_>>().join("\n"),
            );
        }
    }
}

/// Which file uses what is in which other one. What a module hands on is in the file that it is from. A file
/// and the module that it is a part of are one story: that it imports that is no edge.
fn graph(files: &BTreeMap<Module, String>) -> BTreeMap<Module, BTreeSet<Module>> {
    let mut handed_on = BTreeMap::new();
    let mut used = Vec::new();
    for (module, text) in files {
        for (is_handed_on, path) in imports(text) {
            let Some((of, name)) = resolved(module, &path, files) else {
                continue;
            };
            if is_handed_on {
                handed_on.insert((module.clone(), path.last().unwrap().clone()), (of, name));
            } else {
                used.push((module, of, name));
            }
        }
    }
    let mut graph: BTreeMap<Module, BTreeSet<Module>> = files
        .keys()
        .map(|module| (module.clone(), BTreeSet::new()))
        .collect();
    for (from, mut to, mut name) in used {
        // Nothing is handed on more often than that.
        for _ in 0..10 {
            let Some((of, next)) = name
                .and_then(|name| handed_on.get(&(to.clone(), name)))
                .cloned()
            else {
                break;
            };
            (to, name) = (of, next);
        }
        let parent = from.split_last().map(|(_, parent)| parent);
        if to != *from && Some(&*to) != parent {
            graph.get_mut(from).unwrap().insert(to);
        }
    }
    graph
}

fn reached<'g>(
    from: &Module,
    graph: &'g BTreeMap<Module, BTreeSet<Module>>,
) -> BTreeSet<&'g Module> {
    let (mut found, mut open): (BTreeSet<&Module>, Vec<&Module>) =
        (BTreeSet::new(), graph[from].iter().collect());
    while let Some(next) = open.pop() {
        if found.insert(next) {
            open.extend(&graph[next]);
        }
    }
    found
}

/// All imports of a file.
fn imports(text: &str) -> Vec<Import> {
    let mut all = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("use ") {
        let line = &rest[rest[..at].rfind('\n').map_or(0, |end| end + 1)..at];
        rest = &rest[at + "use ".len()..];
        let before = line.trim();
        if before.is_empty() || before.starts_with("pub") {
            let Some((tree, behind)) = rest.split_once(';') else {
                break;
            };
            expand(&Vec::new(), tree, &mut |path| {
                all.push((!before.is_empty(), path));
            });
            rest = behind;
        }
    }
    all
}

/// The paths of `a::{b, c::{d}}`.
fn expand(front: &[String], tree: &str, take: &mut dyn FnMut(Vec<String>)) {
    let path = |text: &str| -> Vec<String> {
        let parts = text
            .split("::")
            .map(|part| part.split(" as ").next().unwrap().trim());
        front
            .iter()
            .cloned()
            .chain(parts.filter(|part| !part.is_empty()).map(str::to_owned))
            .collect()
    };
    let Some((head, inner)) = tree.split_once('{') else {
        return take(path(tree));
    };
    // Texts may have a line that begins as an import does.
    let Some((inner, _)) = inner.rsplit_once('}') else {
        return;
    };
    let head = path(head);
    let (mut depth, mut from) = (0, 0);
    for (at, char) in inner.char_indices().chain([(inner.len(), ',')]) {
        match char {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                if !inner[from..at].trim().is_empty() {
                    expand(&head, &inner[from..at], take);
                }
                from = at + 1;
            }
            _ => {}
        }
    }
}

/// The file that a path leads to, and the name in it; none for paths out of the crate.
fn resolved(
    module: &Module,
    path: &[String],
    files: &BTreeMap<Module, String>,
) -> Option<(Module, Option<String>)> {
    let (mut to, mut rest) = (module.clone(), path);
    match &*rest[0] {
        "crate" => (to, rest) = (Module::new(), &rest[1..]),
        "self" | "super" => {
            while let Some(up) = rest
                .first()
                .filter(|part| matches!(&***part, "self" | "super"))
            {
                if up == "super" {
                    to.pop();
                }
                rest = &rest[1..];
            }
        }
        first => {
            let child: Module = module.iter().cloned().chain([first.to_owned()]).collect();
            files.get(&child)?;
        }
    }
    while let Some((first, behind)) = rest.split_first() {
        let child: Module = to.iter().cloned().chain([first.clone()]).collect();
        if !files.contains_key(&child) {
            break;
        }
        (to, rest) = (child, behind);
    }
    Some((to, rest.first().cloned()))
}
