//! Reads a file of regions.
//!
//! What cannot be followed is a warning. A region whose start, end or conditions cannot be followed
//! is left out, since it would have other instances than the file says; the others are used.

use std::collections::{HashMap, HashSet};

use etwkit_base::index::{Idx, IndexVec};
use etwkit_sql::xml::{Element, Source, Warning, Warnings, clipped};

use super::definition::{
    Condition, Endpoint, EventPattern, Expression, Filter, Manifest, Naming, Region, Same, Side,
    Test, Trigger, When,
};

use super::ManifestError;

/// The expected form of a file.
const HINT: &str = "a file of regions is XML: <InstrumentationManifest><Instrumentation><Regions><RegionRoot …> around <Region Guid=\"…\" Name=\"…\"> with \
     <Start> and <Stop>, as `etwkit docs regions` shows";

/// Elements of a file, as they are spelled.
// Files may write them in another case, which `spell` corrects: the reader compares exactly.
const ELEMENTS: &[&str] = &[
    "InstrumentationManifest",
    "Instrumentation",
    "Regions",
    "RegionRoot",
    "Region",
    "Start",
    "Stop",
    "Match",
    "Filter",
    "Naming",
    "Metadata",
    "Event",
    "Duration",
    "PayloadIdentifier",
    "Parent",
    "SelfNest",
    "Payload",
    "PayloadBased",
    "RegionBased",
];

/// Different regular expressions of a file: each can need a megabyte.
// Together with the limit of a single expression, half a gigabyte at worst.
const MAX_EXPRESSIONS: usize = 500;

type Result<T> = std::result::Result<T, ManifestError>;

impl Manifest {
    /// Reads a file. What cannot be followed is left out, and [`Manifest::warnings`] tells it.
    ///
    /// # Errors
    /// The file is no text, or has no region that can be used.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self> {
        let (source, mut document, warnings) = Source::read_all(file, bytes, HINT)?;
        // Once and at the start, so that no reader has to compare without case.
        document.spell(ELEMENTS);
        let mut reader = Reader {
            source,
            warnings,
            regions: IndexVec::new(),
            events: Interned::default(),
            expressions: HashMap::new(),
        };
        reader.roots(&document);
        reader.finish(&document)
    }
}

/// Events, each once.
#[derive(Default)]
struct Interned {
    all: IndexVec<EventPattern>,
    places: HashMap<EventPattern, Idx<EventPattern>>,
}

impl Interned {
    fn place(&mut self, pattern: EventPattern) -> Idx<EventPattern> {
        // Regions often start with the same event. One pattern is read from the trace once.
        if let Some(place) = self.places.get(&pattern) {
            return *place;
        }
        let place = self.all.push(pattern.clone());
        self.places.insert(pattern, place);
        place
    }
}

struct Reader<'s> {
    source: Source<'s>,
    warnings: Warnings,
    regions: IndexVec<Region>,
    events: Interned,
    expressions: HashMap<String, Expression>,
}

impl Reader<'_> {
    fn warn(&mut self, at: usize, text: impl Into<String>) {
        self.source.warn(&mut self.warnings, at, text);
    }

    /// Turns an error into a warning that says what becomes of it.
    // The place of the error stays: a reader finds it in the file.
    fn excuse(&mut self, error: ManifestError, outcome: &str) {
        let text = format!(
            "expected {}, found {}: {outcome}",
            error.expected, error.found
        );
        self.warnings.push(Warning {
            file: error.file,
            line: error.line,
            column: error.column,
            text,
        });
    }

    /// Warns of attributes and elements that an element cannot have.
    fn check(&mut self, element: &Element, attributes: &[&str], children: &[&str]) {
        for (name, _) in &element.attributes {
            if !attributes
                .iter()
                .any(|known| known.eq_ignore_ascii_case(name))
            {
                let text = format!(
                    "{} of <{}> is unknown and has no effect",
                    clipped(name),
                    element.name
                );
                self.warn(element.at, text);
            }
        }
        for child in &element.children {
            if !children.contains(&child.name.as_str()) {
                let text = format!(
                    "<{}> in <{}> is unknown and has no effect",
                    clipped(&child.name),
                    element.name
                );
                self.warn(child.at, text);
            }
        }
    }

    /// Reads the regions that are in no other one.
    fn roots(&mut self, element: &Element) {
        for child in &element.children {
            match child.name.as_str() {
                "RegionRoot" | "Region" => self.region(child, None),
                "InstrumentationManifest" | "Instrumentation" | "Regions" => self.roots(child),
                other => {
                    let text = format!(
                        "<{}> is unknown: it is left out, with all in it",
                        clipped(other)
                    );
                    // Manifests of events have regions beside other parts.
                    let is_part = [
                        "events",
                        "counters",
                        "resources",
                        "localization",
                        "metadata",
                    ]
                    .iter()
                    .any(|known| known.eq_ignore_ascii_case(other));
                    if !is_part {
                        self.warn(child.at, text);
                    }
                }
            }
        }
    }

    /// A region and what lies in it.
    fn region(&mut self, element: &Element, parent: Option<Idx<Region>>) {
        let children: &[&str] = if element.name == "RegionRoot" {
            &["Region", "Metadata"]
        } else {
            &[
                "Region", "Start", "Stop", "Match", "Filter", "Naming", "Metadata",
            ]
        };
        self.check(element, &["Guid", "Name", "FriendlyName"], children);
        let parent = match self.definition(element, parent) {
            Ok(region) => Some(self.regions.push(region)),
            Err(error) => {
                let name = element.attribute("Name").unwrap_or("without a Name");
                self.excuse(
                    error,
                    &format!("the region {:?} is left out", clipped(name)),
                );
                // What is inside moves up to the region around it, and is not lost with it.
                parent
            }
        };
        // After the push, so that a parent has a smaller number than what is in it.
        for child in element.all("Region") {
            self.region(child, parent);
        }
    }

    fn definition(&mut self, element: &Element, parent: Option<Idx<Region>>) -> Result<Region> {
        let (of_events, of_parent, self_nest) = self.matching(element)?;
        let guid = element.attribute("Guid").map(plain_guid);
        let named = element
            .attribute("Name")
            .or_else(|| element.attribute("FriendlyName"));
        let (guid, name) = match (guid, named) {
            (Some(guid), Some(name)) => (guid, name.to_owned()),
            (None, Some(name)) => {
                self.warn(
                    element.at,
                    format!(
                        "<{}> has no Guid: no other region can name it",
                        element.name
                    ),
                );
                // The position makes it unique, even if two regions have the same name.
                (format!("{name} at {}", element.at), name.to_owned())
            }
            (Some(guid), None) => {
                self.warn(
                    element.at,
                    format!("<{}> has no Name: its Guid stands for it", element.name),
                );
                (guid.clone(), guid)
            }
            (None, None) => {
                return Err(self.source.error(
                    element.at,
                    "an attribute Guid",
                    format!("<{}> without one", element.name),
                ));
            }
        };
        let ends = self.ends(element)?;
        let mut filters = Vec::new();
        for filter in element.all("Filter") {
            // A filter that cannot be read leaves out the region: without it, too many instances
            // would count.
            filters.push(self.filter(filter)?);
        }
        // A name does not decide which instances there are, so the region stays.
        let naming = self.naming(element).unwrap_or_else(|error| {
            self.excuse(error, "its instances have no names");
            None
        });
        Ok(Region {
            guid,
            name,
            friendly_name: element.attribute("FriendlyName").map(str::to_owned),
            parent,
            ends,
            of_events,
            of_parent,
            self_nest,
            filters,
            naming,
            metadata: metadata(element),
            at: element.at,
        })
    }

    /// Returns the one child of that name, if there is one.
    fn only<'e>(&mut self, element: &'e Element, name: &'e str) -> Option<&'e Element> {
        let mut all = element.all(name);
        let first = all.next();
        // The second may be the one that its author meant, so it does not go silently.
        if let Some(second) = all.next() {
            let text = format!(
                "a second <{name}> in <{}>: the first one is used",
                element.name
            );
            self.warn(second.at, text);
        }
        first
    }

    fn ends(&mut self, element: &Element) -> Result<Option<(Endpoint, Endpoint)>> {
        let ends = (self.only(element, "Start"), self.only(element, "Stop"));
        let (start, stop) = match ends {
            (Some(start), Some(stop)) => (start, stop),
            (None, None) => return Ok(None),
            (Some(one), None) | (None, Some(one)) => {
                return Err(self.source.error(
                    one.at,
                    "both <Start> and <Stop>, or none of them",
                    "one of them",
                ));
            }
        };
        // A region that follows another one starts at its end, and a region that leads up to one
        // ends at its start.
        let ends = (
            self.endpoint(start, Side::Stop)?,
            self.endpoint(stop, Side::Start)?,
        );
        // Each would need the place of the other.
        if let (Endpoint::Duration { .. }, Endpoint::Duration { .. }) = ends {
            return Err(self.source.error(
                stop.at,
                "an <Event> or <Region> at one end",
                "<Duration> at both",
            ));
        }
        Ok(Some(ends))
    }

    /// Reads a start or end; `usual` is the default side of another region.
    fn endpoint(&mut self, element: &Element, usual: Side) -> Result<Endpoint> {
        let known = ["Event", "Region", "Duration"];
        self.check(
            element,
            &[],
            &["Event", "Region", "Duration", "PayloadIdentifier"],
        );
        // Conditions may lie beside the event or in it.
        let mut kinds = element
            .children
            .iter()
            .filter(|child| known.contains(&child.name.as_str()));
        let expected = "one <Event>, <Region> or <Duration>";
        let Some(child) = kinds.next() else {
            return Err(self.source.error(
                element.at,
                expected,
                format!("<{}> without one", element.name),
            ));
        };
        // Not only a warning: the wrong end makes every duration wrong.
        if let Some(second) = kinds.next() {
            return Err(self.source.error(second.at, expected, "a second one"));
        }
        let payload = self.payload(element)?;
        match child.name.as_str() {
            "Event" => Ok(Endpoint::Event(self.event(child, payload, &[])?)),
            "Duration" => {
                let event = self.event(child, payload, &["Duration", "Multiplier"])?;
                let multiplier = child.attribute("Multiplier").unwrap_or("1").trim();
                let number = multiplier
                    .parse::<f64>()
                    .ok()
                    // Also no zero: every instance would have the length 0.
                    .filter(|n| n.is_finite() && *n > 0.0);
                let nanoseconds = number.ok_or_else(|| {
                    self.source.error(
                        child.at,
                        "a number above 0 as Multiplier",
                        format!("{multiplier:?}"),
                    )
                })?;
                let field = self.source.required(child, "Duration")?.to_owned();
                Ok(Endpoint::Duration {
                    event,
                    field,
                    nanoseconds,
                })
            }
            // Ends of regions have no payload of their own.
            _ if !payload.is_empty() => Err(self.source.error(
                element.at,
                "<PayloadIdentifier> of an <Event>",
                "one of a <Region>",
            )),
            _ => {
                self.check(child, &["RegionGuid", "Guid", "Endpoint"], &[]);
                // Without the attribute, regions follow each other.
                let side = self.side(child, "Endpoint")?.unwrap_or(usual);
                Ok(Endpoint::Region(self.named(child)?, side))
            }
        }
    }

    /// Returns the GUID of a region that an element names.
    fn named(&self, element: &Element) -> Result<String> {
        // Files have either spelling.
        let guid = match element.attribute("RegionGuid") {
            None => element.attribute("Guid"),
            guid => guid,
        };
        match guid {
            Some(guid) => Ok(plain_guid(guid)),
            None => self.source.required(element, "RegionGuid").map(plain_guid),
        }
    }

    fn side(&self, element: &Element, attribute: &str) -> Result<Option<Side>> {
        let text = element.attribute(attribute).map(str::trim);
        match text.map(str::to_lowercase).as_deref() {
            None | Some("") => Ok(None),
            Some("start") => Ok(Some(Side::Start)),
            Some("stop" | "end") => Ok(Some(Side::Stop)),
            Some(_) => {
                let expected = format!("Start or Stop as {attribute}");
                let found = format!("{:?}", clipped(text.unwrap_or("")));
                Err(self.source.error(element.at, &expected, found))
            }
        }
    }

    /// Reads an event; `more` are further attributes that its element may have.
    fn event(
        &mut self,
        element: &Element,
        mut payload: Vec<Condition>,
        more: &[&str],
    ) -> Result<Idx<EventPattern>> {
        let attributes = [
            &["Provider", "ProviderId", "Id", "Version", "OpCode", "Name"],
            more,
        ]
        .concat();
        self.check(element, &attributes, &["PayloadIdentifier"]);
        // Conditions beside the element and in it all hold.
        payload.extend(self.payload(element)?);
        let provider = match element.attribute("ProviderId") {
            Some(provider) => provider,
            None => self.source.required(element, "Provider")?,
        };
        let written = provider;
        let provider = plain_guid(written);
        // Names of providers are not enough: an extract finds events by GUID.
        if !is_guid(&provider) {
            return Err(self.source.error(
                element.at,
                "a GUID as Provider",
                format!("{:?}", clipped(written)),
            ));
        }
        let id = self.number(element, "Id")?;
        let pattern = EventPattern {
            provider,
            id,
            version: self.number(element, "Version")?,
            opcode: self.number(element, "OpCode")?,
            // Zero is the id of TraceLogging events, which are only told apart by their names.
            // An id already identifies the event; then the name is only for readers of the file.
            name: element
                .attribute("Name")
                .filter(|_| id.is_none_or(|id| id == 0))
                .map(str::to_owned),
            payload,
        };
        // Any event of the provider would fit, which nobody means.
        if pattern.id.is_none() && pattern.opcode.is_none() && pattern.name.is_none() {
            return Err(self.source.error(
                element.at,
                "an Id, a Name or an OpCode",
                "none of them",
            ));
        }
        Ok(self.events.place(pattern))
    }

    fn number(&self, element: &Element, name: &str) -> Result<Option<i32>> {
        let Some(text) = element
            .attribute(name)
            .filter(|text| !text.trim().is_empty())
        else {
            return Ok(None);
        };
        let number = super::events::integer(text)
            .and_then(|n| i32::try_from(n).ok())
            // Ids, versions and opcodes have no sign in Windows.
            .filter(|n| *n >= 0);
        let expected = format!("a number as {name}");
        let found = || format!("{:?}", clipped(text));
        number
            .map(Some)
            .ok_or_else(|| self.source.error(element.at, &expected, found()))
    }

    fn payload(&mut self, element: &Element) -> Result<Vec<Condition>> {
        let mut all = Vec::new();
        for child in element.all("PayloadIdentifier") {
            self.check(
                child,
                &[
                    "FieldName",
                    "FieldValue",
                    "FieldValueRegEx",
                    "FieldValueRelationship",
                ],
                &[],
            );
            let field = self.source.required(child, "FieldName")?.to_owned();
            let relation = child.attribute("FieldValueRelationship").map(str::trim);
            let (is_part, is_not) = match relation.map(str::to_lowercase).as_deref() {
                None | Some("" | "isequal") => (false, false),
                Some("isnotequal") => (false, true),
                Some("contains") => (true, false),
                Some("doesnotcontain") => (true, true),
                Some(_) => {
                    let expected = "IsEqual, IsNotEqual, Contains or DoesNotContain as \
                                    FieldValueRelationship";
                    let found = format!("{:?}", clipped(relation.unwrap_or("")));
                    return Err(self.source.error(child.at, expected, found));
                }
            };
            let test = match child.attribute("FieldValueRegEx") {
                Some(text) => Test::Fits(self.expression(child.at, text)?),
                None => {
                    let value = self.source.required(child, "FieldValue")?.to_owned();
                    if value.contains("${") {
                        let text = format!(
                            "FieldValue {:?} has a placeholder, which nothing fills: the field is \
                             compared with the text as it is",
                            clipped(&value)
                        );
                        self.warn(child.at, text);
                    }
                    if is_part {
                        Test::Contains(value)
                    } else {
                        Test::Equals(value)
                    }
                }
            };
            if child.attribute("FieldValueRegEx").is_some() {
                // Both are conditions; an expression alone is what files have.
                if let Some(value) = child
                    .attribute("FieldValue")
                    .filter(|text| !text.is_empty())
                {
                    all.push(Condition {
                        field: field.clone(),
                        test: Test::Equals(value.to_owned()),
                        is_not,
                    });
                }
            }
            all.push(Condition {
                field,
                test,
                is_not,
            });
        }
        Ok(all)
    }

    fn expression(&mut self, at: usize, text: &str) -> Result<Expression> {
        // The same expression is often in many regions, and compiling it takes far longer than
        // the look-up.
        if let Some(known) = self.expressions.get(text) {
            return Ok(known.clone());
        }
        let expected = "a regular expression as FieldValueRegEx";
        // A warning follows from the error, and regions with the other expressions still work.
        if self.expressions.len() >= MAX_EXPRESSIONS {
            let found = format!("more than {MAX_EXPRESSIONS} different ones");
            return Err(self.source.error(at, expected, found));
        }
        let expression = Expression::new(text).map_err(|why| {
            let found = format!("{:?} ({why})", clipped(text));
            self.source.error(at, expected, found)
        })?;
        self.expressions.insert(text.to_owned(), expression.clone());
        Ok(expression)
    }

    fn matching(&mut self, element: &Element) -> Result<(Same, Same, Option<Same>)> {
        let Some(matching) = self.only(element, "Match") else {
            // The whole element is optional.
            return Ok(Default::default());
        };
        self.check(matching, &[], &["Event", "Parent", "SelfNest"]);
        let mut same = |name| {
            let child = self.only(matching, name);
            child.map(|child| self.same(child)).transpose()
        };
        // Without an element, nothing has to be the same.
        Ok((
            same("Event")?.unwrap_or_default(),
            same("Parent")?.unwrap_or_default(),
            same("SelfNest")?,
        ))
    }

    fn same(&mut self, element: &Element) -> Result<Same> {
        self.check(element, &["TID", "PID", "AID", "ActivityID"], &["Payload"]);
        // XML Schema knows both spellings of a truth value.
        let flag = |name: &str| match element.attribute(name).map(str::trim) {
            None | Some("") => Ok(false),
            Some(text) if text.eq_ignore_ascii_case("true") || text == "1" => Ok(true),
            Some(text) if text.eq_ignore_ascii_case("false") || text == "0" => Ok(false),
            Some(other) => Err(self.source.error(
                element.at,
                &format!("true or false as {name}"),
                format!("{:?}", clipped(other)),
            )),
        };
        let thread = flag("TID")?;
        let process = flag("PID")?;
        // Not the short-circuit operator, so that a wrong value of the second attribute is also
        // found.
        let activity = flag("AID")? | flag("ActivityID")?;
        let mut fields = Vec::new();
        for child in element.all("Payload") {
            self.check(child, &["FieldName", "TargetFieldName"], &[]);
            let field = self.source.required(child, "FieldName")?;
            // Both events often have the same name for a value.
            let target = child.attribute("TargetFieldName").unwrap_or(field);
            fields.push((field.to_owned(), target.to_owned()));
        }
        Ok(Same {
            thread,
            process,
            activity,
            fields,
        })
    }

    fn filter(&mut self, element: &Element) -> Result<Filter> {
        self.check(element, &["Type"], &["Event", "Region"]);
        // More than one trigger could mean any of them or all of them.
        let [child] = element.children.as_slice() else {
            let found = format!("{} of them", element.children.len());
            return Err(self.source.error(
                element.at,
                "one <Event> or <Region> in <Filter>",
                found,
            ));
        };
        let kind = child
            .attribute("Type")
            .or_else(|| element.attribute("Type"));
        let (keeps, when) = match kind.map(|kind| kind.trim().to_lowercase()).as_deref() {
            Some("in") => (true, When::Anywhere),
            Some("inpost") => (true, When::Before),
            Some("inprev") => (true, When::After),
            Some("out") => (false, When::Anywhere),
            Some("outpost") => (false, When::Before),
            Some("outprev") => (false, When::After),
            _ => {
                let expected = "In, InPost, InPrev, Out, OutPost or OutPrev as Type";
                let found = kind.map_or("no Type".to_owned(), |o| format!("{:?}", clipped(o)));
                return Err(self.source.error(child.at, expected, found));
            }
        };
        let trigger = match child.name.as_str() {
            "Event" => Trigger::Event(self.event(child, Vec::new(), &["Type"])?),
            "Region" => {
                self.check(child, &["RegionGuid", "Guid", "Type"], &[]);
                Trigger::Region(self.named(child)?)
            }
            // Not left to the check, which warns: a filter without a trigger would keep or drop
            // everything.
            other => {
                let found = format!("<{}>", clipped(other));
                return Err(self.source.error(
                    child.at,
                    "an <Event> or <Region> in <Filter>",
                    found,
                ));
            }
        };
        Ok(Filter {
            keeps,
            when,
            trigger,
        })
    }

    fn naming(&mut self, element: &Element) -> Result<Option<Naming>> {
        let Some(naming) = self.only(element, "Naming") else {
            return Ok(None);
        };
        self.check(naming, &[], &["PayloadBased", "RegionBased"]);
        let known = ["PayloadBased", "RegionBased"];
        let mut kinds = naming.children.iter();
        // Elements that are unknown were already reported by the check.
        let Some(child) = kinds.find(|child| known.contains(&child.name.as_str())) else {
            let expected = "one <PayloadBased> or <RegionBased>";
            return Err(self.source.error(naming.at, expected, "none of them"));
        };
        if child.name == "PayloadBased" {
            self.check(child, &["NameField", "Type", "InstanceEndpoint"], &[]);
            let kind = child.attribute("Type").map(str::trim);
            let is_pid = match kind.map(str::to_lowercase).as_deref() {
                None | Some("" | "guid") => false,
                Some("pid") => true,
                Some(_) => {
                    let text = format!(
                        "Type {:?} of a name: traces do not have it, so the value \
                         itself is the name",
                        clipped(kind.unwrap_or(""))
                    );
                    self.warn(child.at, text);
                    false
                }
            };
            let name = self.source.required(child, "NameField")?.to_owned();
            return Ok(Some(Naming::Field {
                name,
                side: self.side(child, "InstanceEndpoint")?,
                is_pid,
            }));
        }
        let attributes = [
            "RegionGuid",
            "Guid",
            "Relation",
            "IfRelationTrue",
            "IfRelationFalse",
        ];
        self.check(child, &attributes, &[]);
        let relation = child.attribute("Relation").unwrap_or("IsPresent").trim();
        if !relation.eq_ignore_ascii_case("IsPresent") {
            return Err(self.source.error(
                child.at,
                "IsPresent as Relation",
                format!("{:?}", clipped(relation)),
            ));
        }
        Ok(Some(Naming::Region {
            guid: self.named(child)?,
            present: self.source.required(child, "IfRelationTrue")?.to_owned(),
            absent: self.source.required(child, "IfRelationFalse")?.to_owned(),
        }))
    }

    /// Leaves out what refers to nothing or to itself, and returns the rest.
    fn finish(mut self, document: &Element) -> Result<Manifest> {
        let mut is_left_out: IndexVec<Region, bool> = IndexVec::filled(false, &self.regions);
        // Doubles first: a GUID that two regions have must be found once.
        self.leave_out_doubles(&mut is_left_out);
        self.leave_out_dangling(&mut is_left_out);
        let mut manifest = self.rest(&is_left_out);
        // Only after dangling ones are gone, since a circle through a missing region is none.
        if let Err(circle) = super::order::of(&manifest) {
            let mut is_left_out: IndexVec<Region, bool> =
                IndexVec::filled(false, &manifest.regions);
            for place in circle {
                is_left_out[place] = true;
                let region = &manifest.regions[place];
                let text = format!(
                    "the region {:?} is left out: it depends on itself, in a circle of regions",
                    clipped(&region.name)
                );
                self.source.warn(&mut self.warnings, region.at, text);
            }
            self.regions = manifest.regions;
            // What needs a region of the circle goes too.
            self.leave_out_dangling(&mut is_left_out);
            manifest = self.rest(&is_left_out);
        }
        // Regions that only contain others find nothing.
        if manifest.regions.iter().any(|region| region.ends.is_some()) {
            manifest.warnings = self.warnings;
            return Ok(manifest);
        }
        let expected = "a <Region> with <Start> and <Stop>";
        // The first warning is most likely the reason why nothing is left.
        Err(match self.warnings.first() {
            Some(first) => ManifestError::at_place(
                (first.file.as_str(), first.line, first.column),
                expected,
                &format!("none: {}", first.text),
                HINT,
            ),
            None => {
                let first = document.children.first();
                let found = first.map_or("the end".to_owned(), |e| format!("only <{}>", e.name));
                self.source
                    .error(first.map_or(0, |e| e.at), expected, found)
            }
        })
    }

    /// Leaves out the second region of each GUID.
    fn leave_out_doubles(&mut self, is_left_out: &mut IndexVec<Region, bool>) {
        let mut guids = HashSet::new();
        for (place, region) in self.regions.enumerate() {
            // The earlier one wins, as for elements that are written twice.
            if !guids.insert(region.guid.as_str()) {
                is_left_out[place] = true;
                let text = format!(
                    "the region {:?} is left out: an earlier one has the same Guid",
                    clipped(&region.name)
                );
                self.source.warn(&mut self.warnings, region.at, text);
            }
        }
    }

    /// Leaves out regions that need one that is not there, and those that need these.
    fn leave_out_dangling(&mut self, is_left_out: &mut IndexVec<Region, bool>) {
        let mut there: HashSet<String> = HashSet::new();
        let mut needed_by: HashMap<String, Vec<Idx<Region>>> = HashMap::new();
        for (place, region) in self.regions.enumerate() {
            if !is_left_out[place] {
                // Only what stays can be needed.
                there.insert(region.guid.clone());
            }
            for guid in needed(region) {
                needed_by.entry(guid.to_owned()).or_default().push(place);
            }
        }
        let missing = |guid: &&String| !there.contains(*guid);
        let mut gone: Vec<String> = needed_by.keys().filter(missing).cloned().collect();
        // Hashing changes the order from run to run, and warnings must not.
        gone.sort();
        while let Some(guid) = gone.pop() {
            for place in needed_by.remove(&guid).into_iter().flatten() {
                // It may need several missing regions; one warning is enough.
                if std::mem::replace(&mut is_left_out[place], true) {
                    continue;
                }
                let region = &self.regions[place];
                let text = format!(
                    "the region {:?} is left out: it needs the region {}, which the file does not \
                     have",
                    clipped(&region.name),
                    clipped(&guid)
                );
                self.source.warn(&mut self.warnings, region.at, text);
                // Those that need it are dangling now.
                gone.push(region.guid.clone());
            }
        }
    }

    /// The regions that are not left out, and their events.
    fn rest(&mut self, is_left_out: &IndexVec<Region, bool>) -> Manifest {
        let mut events = Interned::default();
        let mut regions: IndexVec<Region> = IndexVec::with_capacity(self.regions.len());
        let mut places: IndexVec<Region, Option<Idx<Region>>> =
            IndexVec::filled(None, &self.regions);
        for (place, region) in self.regions.enumerate() {
            // Parents come before what is in them; what is in one that is left out is in the one
            // around it.
            let parent = region.parent.and_then(|parent| places[parent]);
            if is_left_out[place] {
                places[place] = parent;
                continue;
            }
            let mut region = region.clone();
            region.parent = parent;
            // Patterns that only belong to regions that are left out would be searched for and
            // reported as missing.
            each_event(&mut region, |event| {
                *event = events.place(self.events.all[*event].clone());
            });
            places[place] = Some(regions.push(region));
        }
        let mut by_guid: Vec<Idx<Region>> = regions.positions().collect();
        // A search by GUID runs for each reference and each event.
        by_guid.sort_by(|a, b| regions[*a].guid.cmp(&regions[*b].guid));
        self.take_names(&mut regions, &by_guid);
        // Positions changed; the old numbers would name other patterns.
        self.events = Interned {
            all: events.all.clone(),
            places: HashMap::new(),
        };
        Manifest {
            regions,
            events: events.all,
            by_guid,
            warnings: Warnings::new(),
        }
    }

    /// Takes their names from the regions whose names need a region that is not there.
    fn take_names(&mut self, regions: &mut IndexVec<Region>, by_guid: &[Idx<Region>]) {
        let mut unnamed = Vec::new();
        for (place, region) in regions.enumerate() {
            if let Some(Naming::Region { guid, .. }) = &region.naming
                && by_guid
                    .binary_search_by(|at| regions[*at].guid.cmp(guid))
                    .is_err()
            {
                unnamed.push(place);
            }
        }
        // A separate loop, since regions are borrowed above.
        for place in unnamed {
            let region = &mut regions[place];
            region.naming = None;
            let text = format!(
                "the instances of {:?} have no names: they need a region that the file does not have",
                clipped(&region.name)
            );
            self.source.warn(&mut self.warnings, region.at, text);
        }
    }
}

/// Changes each event that a region names.
fn each_event(region: &mut Region, mut change: impl FnMut(&mut Idx<EventPattern>)) {
    if let Some((start, stop)) = &mut region.ends {
        for end in [start, stop] {
            match end {
                Endpoint::Event(event) | Endpoint::Duration { event, .. } => change(event),
                Endpoint::Region(..) => {}
            }
        }
    }
    for filter in &mut region.filters {
        if let Trigger::Event(event) = &mut filter.trigger {
            change(event);
        }
    }
}

/// GUIDs of the regions that a region needs.
fn needed(region: &Region) -> impl Iterator<Item = &str> {
    let ends = region.ends.iter().flat_map(|(start, stop)| [start, stop]);
    // A parent is no need: what is in it moves up if it goes.
    let of_ends = ends.filter_map(|end| match end {
        Endpoint::Region(guid, _) => Some(guid.as_str()),
        _ => None,
    });
    let filters = region.filters.iter();
    of_ends.chain(filters.filter_map(|filter| match &filter.trigger {
        Trigger::Region(guid) => Some(guid.as_str()),
        Trigger::Event(_) => None,
    }))
}

/// Returns the metadata of the definition, by name.
fn metadata(element: &Element) -> Vec<(String, String)> {
    let all = element
        .all("Metadata")
        .flat_map(|metadata| &metadata.children);
    all.map(|fact| (fact.name.clone(), fact.content.trim().to_owned()))
        .collect()
}

/// Converts a GUID to lower case, without braces.
fn plain_guid(text: &str) -> String {
    // Both spellings are common, and comparisons are of texts.
    text.trim()
        .trim_start_matches('{')
        .trim_end_matches('}')
        .to_lowercase()
}

fn is_guid(text: &str) -> bool {
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12]
        && text
            .bytes()
            .all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}
