//! Reads profiles.
//!
//! In version 2 a `Graph` with a GUID holds presets; elements below `ModifiedGraphs` are not shown
//! and are skipped. In version 1 an element whose name ends in `GraphTreeItem` represents a graph,
//! with a `ClsID` where several graphs share it. Attributes have the same names in both. The limits
//! of `etwkit_sql::xml` apply.
//!
//! What cannot be followed is a warning. A table whose rows would be others without it is left out.

use etwkit_sql::xml::{Element, FileError, Source, Warnings, clipped};

use super::{Aggregation, ColumnOption, Preset, PresetColumn, Profile};
use crate::wpa::format::Unit;

/// Hint for a file that is not a profile.
const HINT: &str = "name a profile that Windows Performance Analyzer exported (menu Profiles, Export), or one of \
                    those that etwkit has: `etwkit docs wpaexporter` lists them";

/// Largest number of tables in a profile.
const MAX_PRESETS: usize = 1000;

/// Largest number of columns in a preset.
const MAX_COLUMNS: usize = 500;

/// The attribute with the condition of a preset.
const FILTER: &str = "InitialFilterQuery";

impl Profile {
    /// Reads a profile; `file` is its name in errors. What cannot be followed is left out, and
    /// [`Self::warnings`] tells it.
    ///
    /// # Errors
    /// It is no text, not a profile, or has no table that can be used. The error has a line and a
    /// column.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self, FileError> {
        let (source, document, warnings) = Source::read_all(file, bytes, HINT)?;
        let mut reader = Reader {
            source,
            warnings,
            presets: Vec::new(),
        };
        let expected = "<WpaProfileContainer> (version 2) or <WpaProfile> (version 1)";
        let Some(root) = document.children.first() else {
            return Err(reader.source.error(0, expected, "no element"));
        };
        let version = match root.name.as_str() {
            "WpaProfileContainer" => {
                reader.version_2(root)?;
                2
            }
            "WpaProfile" => {
                reader.version_1(root);
                1
            }
            other => return Err(reader.source.error(root.at, expected, format!("<{other}>"))),
        };
        reader.finish(version, root)
    }
}

struct Reader<'s> {
    source: Source<'s>,
    warnings: Warnings,
    presets: Vec<Preset>,
}

impl Reader<'_> {
    fn warn(&mut self, at: usize, text: impl Into<String>) {
        self.source.warn(&mut self.warnings, at, text);
    }

    fn version_2(&mut self, root: &Element) -> Result<(), FileError> {
        let version = root.attribute("Version").unwrap_or("2");
        if version != "2" {
            let text = format!(
                "Version {:?} of the format is unknown: it is read as version 2",
                clipped(version)
            );
            self.warn(root.at, text);
        }
        let content = self.source.inner(root, "Content")?;
        let views = self.source.inner(content, "Views")?;
        for view in views
            .all("View")
            .filter(|view| is_true(view, "IsVisible", true))
        {
            let title = view.attribute("Title").unwrap_or("");
            for graph in view.all("Graphs").flat_map(|graphs| graphs.all("Graph")) {
                if !is_true(graph, "IsShown", true) {
                    continue;
                }
                let owned = |name: &str| graph.attribute(name).map(str::to_owned);
                let around = Preset {
                    graph_guid: owned("Guid"),
                    graph_name: owned("Name"),
                    view: title.to_owned(),
                    ..Preset::default()
                };
                for preset in graph.all("Preset") {
                    let columns = preset
                        .all("Columns")
                        .flat_map(|columns| columns.all("Column"));
                    self.preset(preset, columns, &around);
                }
            }
        }
        Ok(())
    }

    fn version_1(&mut self, root: &Element) {
        let views = root
            .all("WpaProfile.Views")
            .flat_map(|views| views.all("AnalysisView"));
        for view in views.filter(|view| is_true(view, "IsVisible", true)) {
            let titles = view
                .all("AnalysisView.Title")
                .flat_map(|title| title.all("ViewTitle"));
            let title = titles
                .filter_map(|title| title.attribute("Title"))
                .next()
                .unwrap_or("");
            for graph in view
                .children
                .iter()
                .filter(|child| child.name.ends_with("GraphTreeItem"))
            {
                let around = Preset {
                    graph_guid: graph.attribute("ClsID").map(str::to_owned),
                    element: Some(graph.name.clone()),
                    view: title.to_owned(),
                    ..Preset::default()
                };
                let holders = graph
                    .children
                    .iter()
                    .filter(|child| child.name.ends_with(".HdvViewModelPreset"));
                for preset in holders.flat_map(|holder| holder.all("HdvViewModelPreset")) {
                    let columns = preset.all("HdvViewModelPreset.ConfigurableColumns");
                    let columns =
                        columns.flat_map(|columns| columns.all("HdvColumnViewModelPreset"));
                    self.preset(preset, columns, &around);
                }
            }
        }
    }

    /// Adds a preset; `around` is what the elements around it say. Wrong keys or a filter that is
    /// not read would give it other rows, so it is left out.
    fn preset<'e>(
        &mut self,
        preset: &Element,
        columns: impl Iterator<Item = &'e Element>,
        around: &Preset,
    ) {
        if self.presets.len() >= MAX_PRESETS {
            let text = format!(
                "left out: at most {MAX_PRESETS} elements <{}> are read",
                preset.name
            );
            return self.warn(preset.at, text);
        }
        let name = preset.attribute("Name").unwrap_or("");
        let outcome = format!("the preset {:?} is left out", clipped(name));
        if preset
            .too_long
            .iter()
            .any(|long| long.eq_ignore_ascii_case(FILTER))
        {
            return self.warn(preset.at, format!("{FILTER} is too long: {outcome}"));
        }
        let keys = match number(preset, "KeyColumnCount") {
            Ok(number) => number.map_or(0, |number| number as usize),
            Err(wrong) => return self.warn(preset.at, format!("{wrong}: {outcome}")),
        };
        let columns = self.columns(columns);
        self.presets.push(Preset {
            name: name.to_owned(),
            keys,
            filter: preset.attribute(FILTER).unwrap_or("").trim().to_owned(),
            filter_keeps: is_true(preset, "InitialFilterShouldKeep", true),
            columns,
            ..around.clone()
        });
    }

    fn columns<'e>(&mut self, columns: impl Iterator<Item = &'e Element>) -> Vec<PresetColumn> {
        let mut shown = Vec::new();
        for column in columns {
            if shown.len() >= MAX_COLUMNS {
                let text = format!(
                    "this <{}> and those that follow are left out: at most {MAX_COLUMNS} of a \
                     preset are read",
                    clipped(&column.name)
                );
                self.warn(column.at, text);
                break;
            }
            shown.push(self.column(column));
        }
        shown
    }

    fn column(&mut self, column: &Element) -> PresetColumn {
        let text = |name: &str| column.attribute(name).unwrap_or("");
        let is_descending = match text("SortOrder") {
            "Ascending" => Some(false),
            "Descending" => Some(true),
            _ => None,
        };
        let priority = match number(column, "SortPriority") {
            Ok(Some(priority)) => priority,
            Ok(None) => 0,
            Err(wrong) => {
                self.warn(column.at, format!("{wrong}: it counts as 0"));
                0
            }
        };
        let guid = text("Guid").to_owned();
        let name = text("Name").to_owned();
        let has_name = !guid.is_empty() || !name.is_empty();
        if !has_name {
            let text = format!(
                "expected Guid or Name, found <{}> without them: the column is left out",
                clipped(&column.name)
            );
            self.warn(column.at, text);
        }
        PresetColumn {
            guid,
            name,
            // Both versions omit attributes that are `false`. A column that is left out keeps its
            // place, since the golden bar counts it.
            is_visible: has_name && is_true(column, "IsVisible", false),
            aggregation: Aggregation::of(text("AggregationMode")),
            sort: is_descending.map(|is_descending| (priority, is_descending)),
            unit: Unit::of_cell_format(text("CellFormat")),
            option: option(column),
        }
    }

    fn finish(self, version: u32, root: &Element) -> Result<Profile, FileError> {
        if !self.presets.is_empty() {
            return Ok(Profile {
                version,
                presets: self.presets,
                warnings: self.warnings,
            });
        }
        let expected = "a graph with a preset in a visible view";
        Err(match self.warnings.first() {
            Some(first) => FileError::at_place(
                (first.file.as_str(), first.line, first.column),
                expected,
                &format!("none: {}", first.text),
                HINT,
            ),
            None => self
                .source
                .error(root.at, expected, "a profile that shows nothing"),
        })
    }
}

/// Returns the number in an attribute, if it has one, or what is wrong with it. Unset priorities
/// are −1.
fn number(element: &Element, name: &str) -> Result<Option<u32>, String> {
    // A negative number counts as missing.
    let Some(text) = element
        .attribute(name)
        .map(str::trim)
        .filter(|text| !text.starts_with('-'))
    else {
        return Ok(None);
    };
    text.parse()
        .map(Some)
        .map_err(|_| format!("expected a number as {name}, found {:?}", clipped(text)))
}

/// Returns the option of a column's nested elements; version 1 has them one level deeper and with
/// other names.
fn option(column: &Element) -> ColumnOption {
    // Both levels are searched for either version, and the first known element decides.
    let inner = column
        .children
        .iter()
        .flat_map(|child| std::iter::once(child).chain(&child.children));
    for element in inner {
        let mode = element.attribute("Mode").unwrap_or("");
        match (element.name.as_str(), mode) {
            ("StackOptionsParameter" | "PresetStackOptions", "StackTag") => {
                return ColumnOption::StackTag;
            }
            ("StackOptionsParameter" | "PresetStackOptions", "FrameTags") => {
                return ColumnOption::FrameTags;
            }
            ("ProcessOptionsParameter" | "PresetProcessOptions", "NoPid") => {
                return ColumnOption::NoPid;
            }
            ("DurationInViewOptionsParameter", _) if !is_true(element, "InViewEnabled", true) => {
                return ColumnOption::Whole;
            }
            _ => {}
        }
    }
    ColumnOption::None
}

fn is_true(element: &Element, name: &str, usual: bool) -> bool {
    element
        .attribute(name)
        .map_or(usual, |value| value.eq_ignore_ascii_case("true"))
}
