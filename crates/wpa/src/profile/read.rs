//! Reads profiles.
//!
//! In version 2 a `Graph` with a GUID holds presets; elements below `ModifiedGraphs` are not shown
//! and are skipped. In version 1 an element whose name ends in `GraphTreeItem` represents a graph,
//! with a `ClsID` where several graphs share it. Attributes have the same names in both. The limits
//! of `etwkit_sql::xml` apply.

use etwkit_sql::xml::{Element, FileError, Source};

use super::{Aggregation, ColumnOption, Preset, Profile, Shown};
use crate::format::Unit;

/// Hint for a file that is not a profile.
const HINT: &str = "name a profile that Windows Performance Analyzer exported (menu Profiles, Export), or one of \
                    those that etwkit has: `etwkit docs wpaexporter` lists them";

/// Largest number of tables in a profile.
const MAX_PRESETS: usize = 1000;

/// Largest number of columns in a preset.
const MAX_COLUMNS: usize = 500;

impl Profile {
    /// Reads a profile; `file` is its name in errors.
    ///
    /// # Errors
    /// It is not XML, not a profile, of an unknown version, empty, or has invalid numbers. The
    /// error has a line and a column.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self, FileError> {
        let (source, document) = Source::read(file, bytes, HINT)?;
        let reader = Reader { source };
        let expected = "<WpaProfileContainer> (version 2) or <WpaProfile> (version 1)";
        let Some(root) = document.children.first() else {
            return Err(reader.source.error(0, expected, "no element"));
        };
        let profile = match root.name.as_str() {
            "WpaProfileContainer" => reader.version_2(root)?,
            "WpaProfile" => reader.version_1(root)?,
            other => return Err(reader.source.error(root.at, expected, format!("<{other}>"))),
        };
        if profile.presets.is_empty() {
            let expected = "a graph with a preset in a visible view";
            return Err(reader
                .source
                .error(root.at, expected, "a profile that shows nothing"));
        }
        Ok(profile)
    }
}

struct Reader<'s> {
    source: Source<'s>,
}

impl Reader<'_> {
    fn version_2(&self, root: &Element) -> Result<Profile, FileError> {
        match root.attribute("Version").unwrap_or("2") {
            "2" => {}
            other => {
                let found = format!("Version=\"{}\"", short(other));
                return Err(self
                    .source
                    .error(root.at, "version 1 or 2 of the format", found));
            }
        }
        let content = self.source.inner(root, "Content")?;
        let views = self.source.inner(content, "Views")?;
        let mut presets = Vec::new();
        for view in views
            .all("View")
            .filter(|view| is_true(view, "IsVisible", true))
        {
            let title = view.attribute("Title").unwrap_or("");
            for graph in view.all("Graphs").flat_map(|graphs| graphs.all("Graph")) {
                if !is_true(graph, "IsShown", true) {
                    continue;
                }
                for preset in graph.all("Preset") {
                    let columns = preset
                        .all("Columns")
                        .flat_map(|columns| columns.all("Column"));
                    let read = self.preset(preset, columns)?;
                    let owned = |name: &str| graph.attribute(name).map(str::to_owned);
                    presets.push(Preset {
                        graph_guid: owned("Guid"),
                        graph_name: owned("Name"),
                        view: title.to_owned(),
                        ..read
                    });
                    self.check_count(presets.len(), MAX_PRESETS, preset)?;
                }
            }
        }
        Ok(Profile {
            version: 2,
            presets,
        })
    }

    fn version_1(&self, root: &Element) -> Result<Profile, FileError> {
        let mut presets = Vec::new();
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
                let holders = graph
                    .children
                    .iter()
                    .filter(|child| child.name.ends_with(".HdvViewModelPreset"));
                for preset in holders.flat_map(|holder| holder.all("HdvViewModelPreset")) {
                    let columns = preset.all("HdvViewModelPreset.ConfigurableColumns");
                    let columns =
                        columns.flat_map(|columns| columns.all("HdvColumnViewModelPreset"));
                    let read = self.preset(preset, columns)?;
                    presets.push(Preset {
                        graph_guid: graph.attribute("ClsID").map(str::to_owned),
                        element: Some(graph.name.clone()),
                        view: title.to_owned(),
                        ..read
                    });
                    self.check_count(presets.len(), MAX_PRESETS, preset)?;
                }
            }
        }
        Ok(Profile {
            version: 1,
            presets,
        })
    }

    fn check_count(&self, count: usize, most: usize, element: &Element) -> Result<(), FileError> {
        if count > most {
            let expected = format!("at most {most} elements <{}>", element.name);
            return Err(self.source.error(element.at, &expected, "one more"));
        }
        Ok(())
    }

    fn preset<'e>(
        &self,
        preset: &Element,
        columns: impl Iterator<Item = &'e Element>,
    ) -> Result<Preset, FileError> {
        let mut shown = Vec::new();
        for column in columns {
            shown.push(self.column(column)?);
            self.check_count(shown.len(), MAX_COLUMNS, column)?;
        }
        Ok(Preset {
            name: self.source.required(preset, "Name")?.to_owned(),
            keys: self.number(preset, "KeyColumnCount")?.unwrap_or_default() as usize,
            filter: preset
                .attribute("InitialFilterQuery")
                .unwrap_or("")
                .trim()
                .to_owned(),
            filter_keeps: is_true(preset, "InitialFilterShouldKeep", true),
            columns: shown,
            ..Preset::default()
        })
    }

    fn column(&self, column: &Element) -> Result<Shown, FileError> {
        let text = |name: &str| column.attribute(name).unwrap_or("");
        let is_descending = match text("SortOrder") {
            "Ascending" => Some(false),
            "Descending" => Some(true),
            _ => None,
        };
        let priority = self.number(column, "SortPriority")?.unwrap_or_default();
        let (guid, name) = (text("Guid").to_owned(), text("Name").to_owned());
        if guid.is_empty() && name.is_empty() {
            return Err(self
                .source
                .error(column.at, "a column with Guid or Name", "one without"));
        }
        Ok(Shown {
            guid,
            name,
            // Both versions omit attributes that are `false`.
            is_visible: is_true(column, "IsVisible", false),
            aggregation: Aggregation::of(text("AggregationMode")),
            sort: is_descending.map(|is_descending| (priority, is_descending)),
            unit: Unit::of_cell_format(text("CellFormat")),
            option: option(column),
        })
    }

    /// Returns the number in an attribute, if it has one. Unset priorities are −1.
    fn number(&self, element: &Element, name: &str) -> Result<Option<u32>, FileError> {
        // A negative number counts as missing.
        let Some(text) = element
            .attribute(name)
            .filter(|text| !text.starts_with('-'))
        else {
            return Ok(None);
        };
        let wrong = || {
            self.source
                .error(element.at, &format!("a number as {name}"), short(text))
        };
        text.trim().parse().map(Some).map_err(|_| wrong())
    }
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

/// Returns the first characters of a text of a file, for messages.
fn short(text: &str) -> String {
    text.chars().take(60).collect()
}
