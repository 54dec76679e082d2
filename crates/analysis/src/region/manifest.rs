//! Reads a file of regions.

use std::collections::HashSet;

use etwkit_base::index::{Idx, IndexVec};
use etwkit_query::xml::{Element, Source};

use super::definition::{
    Endpoint, EventPattern, Filter, Manifest, Naming, Region, Same, Side, Trigger, When,
};

use super::ManifestError;

/// The expected form of a file.
const HINT: &str = "a file of regions is XML: <InstrumentationManifest><Instrumentation><Regions><RegionRoot …> around <Region Guid=\"…\" Name=\"…\"> with \
     <Start> and <Stop>, as docs/regions.md shows";

type Result<T> = std::result::Result<T, ManifestError>;

impl Manifest {
    /// Reads a file.
    ///
    /// # Errors
    /// The file is not XML, or has elements that regions do not have or that are not supported.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self> {
        let (source, document) = Source::read(file, bytes, HINT)?;
        let mut reader = Reader {
            source,
            manifest: Self {
                regions: IndexVec::new(),
                events: IndexVec::new(),
            },
        };
        let regions = reader.regions(&document)?;
        for root in &regions.children {
            reader.region(root, None)?;
        }
        reader.check()?;
        Ok(reader.manifest)
    }
}

struct Reader<'s> {
    source: Source<'s>,
    manifest: Manifest,
}

impl Reader<'_> {
    /// Returns the element around all regions.
    fn regions<'e>(&self, document: &'e Element) -> Result<&'e Element> {
        let mut element = document;
        for name in ["InstrumentationManifest", "Instrumentation", "Regions"] {
            element = self.source.inner(element, name)?;
        }
        self.source.check(element, &[], &["RegionRoot"])?;
        Ok(element)
    }

    /// A region and what lies in it.
    fn region(&mut self, element: &Element, parent: Option<Idx<Region>>) -> Result<()> {
        let children: &[&str] = if element.name == "RegionRoot" {
            &["Region", "Metadata"]
        } else {
            &[
                "Region", "Start", "Stop", "Match", "Filter", "Naming", "Metadata",
            ]
        };
        self.source
            .check(element, &["Guid", "Name", "FriendlyName"], children)?;
        let (of_events, of_parent, self_nest) = self.matching(element)?;
        let region = Region {
            guid: plain_guid(self.source.required(element, "Guid")?),
            name: self.source.required(element, "Name")?.to_owned(),
            friendly_name: element.attribute("FriendlyName").map(str::to_owned),
            parent,
            ends: self.ends(element)?,
            of_events,
            of_parent,
            self_nest,
            filters: element
                .all("Filter")
                .map(|filter| self.filter(filter))
                .collect::<Result<_>>()?,
            naming: self.naming(element)?,
            metadata: metadata(element),
            at: element.at,
        };
        let place = self.manifest.regions.push(region);
        element
            .all("Region")
            .try_for_each(|child| self.region(child, Some(place)))
    }

    /// Returns the one child of that name, if there is one.
    fn only<'e>(&self, element: &'e Element, name: &'e str) -> Result<Option<&'e Element>> {
        let mut all = element.all(name);
        let first = all.next();
        match all.next() {
            Some(second) => {
                Err(self
                    .source
                    .error(second.at, &format!("one <{name}>"), "a second one"))
            }
            None => Ok(first),
        }
    }

    fn ends(&mut self, element: &Element) -> Result<Option<(Endpoint, Endpoint)>> {
        let ends = (self.only(element, "Start")?, self.only(element, "Stop")?);
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
        self.source.check(
            element,
            &[],
            &["Event", "Region", "Duration", "PayloadIdentifier"],
        )?;
        let mut kinds = element
            .children
            .iter()
            .filter(|child| child.name != "PayloadIdentifier");
        let expected = "one <Event>, <Region> or <Duration>";
        let Some(child) = kinds.next() else {
            return Err(self.source.error(
                element.at,
                expected,
                format!("<{}> without one", element.name),
            ));
        };
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
            _ if !payload.is_empty() => Err(self.source.error(
                element.at,
                "<PayloadIdentifier> of an <Event>",
                "one of a <Region>",
            )),
            _ => {
                self.source.check(child, &["RegionGuid", "Endpoint"], &[])?;
                let side = self.side(child, "Endpoint")?.unwrap_or(usual);
                Ok(Endpoint::Region(
                    plain_guid(self.source.required(child, "RegionGuid")?),
                    side,
                ))
            }
        }
    }

    fn side(&self, element: &Element, attribute: &str) -> Result<Option<Side>> {
        match element.attribute(attribute) {
            None => Ok(None),
            Some("Start") => Ok(Some(Side::Start)),
            Some("Stop") => Ok(Some(Side::Stop)),
            Some(other) => {
                let expected = format!("Start or Stop as {attribute}");
                Err(self
                    .source
                    .error(element.at, &expected, format!("{other:?}")))
            }
        }
    }

    /// Reads an event; `more` are further attributes that its element may have.
    fn event(
        &mut self,
        element: &Element,
        mut payload: Vec<(String, String, bool)>,
        more: &[&str],
    ) -> Result<Idx<EventPattern>> {
        let attributes = [
            &["Provider", "ProviderId", "Id", "Version", "OpCode", "Name"],
            more,
        ]
        .concat();
        self.source
            .check(element, &attributes, &["PayloadIdentifier"])?;
        payload.extend(self.payload(element)?);
        let provider = match element.attribute("ProviderId") {
            Some(provider) => provider,
            None => self.source.required(element, "Provider")?,
        };
        let provider = plain_guid(provider);
        if !is_guid(&provider) {
            return Err(self.source.error(
                element.at,
                "a GUID as Provider",
                format!("{provider:?}"),
            ));
        }
        let id = self.number(element, "Id")?;
        let pattern = EventPattern {
            provider,
            id,
            version: self.number(element, "Version")?,
            opcode: self.number(element, "OpCode")?,
            // An id already identifies the event; then the name is only for readers of the file.
            name: element
                .attribute("Name")
                .filter(|_| id.unwrap_or(0) == 0)
                .map(str::to_owned),
            payload,
        };
        if pattern.id.is_none() && pattern.opcode.is_none() && pattern.name.is_none() {
            return Err(self.source.error(
                element.at,
                "an Id, a Name or an OpCode",
                "none of them",
            ));
        }
        let known = self.manifest.events.find(|event| *event == pattern);
        Ok(known.unwrap_or_else(|| self.manifest.events.push(pattern)))
    }

    fn number(&self, element: &Element, name: &str) -> Result<Option<i32>> {
        let Some(text) = element.attribute(name) else {
            return Ok(None);
        };
        let number = super::events::integer(text)
            .and_then(|n| i32::try_from(n).ok())
            .filter(|n| *n >= 0);
        let expected = format!("a number as {name}");
        number.map(Some).ok_or_else(|| {
            self.source
                .error(element.at, &expected, format!("{text:?}"))
        })
    }

    fn payload(&self, element: &Element) -> Result<Vec<(String, String, bool)>> {
        element
            .all("PayloadIdentifier")
            .map(|child| {
                self.source.check(
                    child,
                    &["FieldName", "FieldValue", "FieldValueRelationship"],
                    &[],
                )?;
                let equal = match child.attribute("FieldValueRelationship") {
                    None | Some("IsEqual") => true,
                    Some("DoesNotContain") => false,
                    Some(other) => {
                        let expected = "IsEqual or DoesNotContain as FieldValueRelationship";
                        return Err(self.source.error(child.at, expected, format!("{other:?}")));
                    }
                };
                let [field, value] =
                    ["FieldName", "FieldValue"].map(|name| self.source.required(child, name));
                Ok((field?.to_owned(), value?.to_owned(), equal))
            })
            .collect()
    }

    fn matching(&self, element: &Element) -> Result<(Same, Same, Option<Same>)> {
        let Some(matching) = self.only(element, "Match")? else {
            return Ok(Default::default());
        };
        self.source
            .check(matching, &[], &["Event", "Parent", "SelfNest"])?;
        let same = |name| {
            self.only(matching, name)?
                .map(|child| self.same(child))
                .transpose()
        };
        Ok((
            same("Event")?.unwrap_or_default(),
            same("Parent")?.unwrap_or_default(),
            same("SelfNest")?,
        ))
    }

    fn same(&self, element: &Element) -> Result<Same> {
        self.source
            .check(element, &["TID", "PID", "AID", "ActivityID"], &["Payload"])?;
        let flag = |name: &str| match element.attribute(name) {
            None => Ok(false),
            Some(text) if text.eq_ignore_ascii_case("true") || text == "1" => Ok(true),
            Some(text) if text.eq_ignore_ascii_case("false") || text == "0" => Ok(false),
            Some(other) => Err(self.source.error(
                element.at,
                &format!("true or false as {name}"),
                format!("{other:?}"),
            )),
        };
        let fields = element.all("Payload").map(|child| {
            self.source
                .check(child, &["FieldName", "TargetFieldName"], &[])?;
            let field = self.source.required(child, "FieldName")?;
            Ok((
                field.to_owned(),
                child
                    .attribute("TargetFieldName")
                    .unwrap_or(field)
                    .to_owned(),
            ))
        });
        Ok(Same {
            thread: flag("TID")?,
            process: flag("PID")?,
            // Not the short-circuit operator, so that a wrong value of the second attribute is also
            // found.
            activity: flag("AID")? | flag("ActivityID")?,
            fields: fields.collect::<Result<_>>()?,
        })
    }

    fn filter(&mut self, element: &Element) -> Result<Filter> {
        self.source
            .check(element, &["Type"], &["Event", "Region"])?;
        let [child] = element.children.as_slice() else {
            let found = format!("{} of them", element.children.len());
            return Err(self.source.error(
                element.at,
                "one <Event> or <Region> in <Filter>",
                found,
            ));
        };
        let (keeps, when) = match child
            .attribute("Type")
            .or_else(|| element.attribute("Type"))
        {
            Some("In") => (true, When::Anywhere),
            Some("InPost") => (true, When::Before),
            Some("InPrev") => (true, When::After),
            Some("Out") => (false, When::Anywhere),
            Some("OutPost") => (false, When::Before),
            Some("OutPrev") => (false, When::After),
            other => {
                let expected = "In, InPost, InPrev, Out, OutPost or OutPrev as Type";
                let found = other.map_or("no Type".to_owned(), |other| format!("{other:?}"));
                return Err(self.source.error(child.at, expected, found));
            }
        };
        let trigger = if child.name == "Event" {
            Trigger::Event(self.event(child, Vec::new(), &["Type"])?)
        } else {
            self.source.check(child, &["RegionGuid", "Type"], &[])?;
            Trigger::Region(plain_guid(self.source.required(child, "RegionGuid")?))
        };
        Ok(Filter {
            keeps,
            when,
            trigger,
        })
    }

    fn naming(&self, element: &Element) -> Result<Option<Naming>> {
        let Some(naming) = self.only(element, "Naming")? else {
            return Ok(None);
        };
        self.source
            .check(naming, &[], &["PayloadBased", "RegionBased"])?;
        let [child] = naming.children.as_slice() else {
            let found = format!("{} of them", naming.children.len());
            return Err(self
                .source
                .error(naming.at, "one <PayloadBased> or <RegionBased>", found));
        };
        if child.name == "PayloadBased" {
            self.source
                .check(child, &["NameField", "Type", "InstanceEndpoint"], &[])?;
            let is_pid = match child.attribute("Type") {
                None | Some("GUID") => false,
                Some("PID") => true,
                Some(other) => {
                    let expected =
                        "GUID or PID as Type (traces do not have names of devices and classes)";
                    return Err(self.source.error(child.at, expected, format!("{other:?}")));
                }
            };
            let name = self.source.required(child, "NameField")?.to_owned();
            return Ok(Some(Naming::Field {
                name,
                side: self.side(child, "InstanceEndpoint")?,
                is_pid,
            }));
        }
        self.source.check(
            child,
            &[
                "RegionGuid",
                "Relation",
                "IfRelationTrue",
                "IfRelationFalse",
            ],
            &[],
        )?;
        let relation = self.source.required(child, "Relation")?;
        if relation != "IsPresent" {
            return Err(self.source.error(
                child.at,
                "IsPresent as Relation",
                format!("{relation:?}"),
            ));
        }
        Ok(Some(Naming::Region {
            guid: plain_guid(self.source.required(child, "RegionGuid")?),
            present: self.source.required(child, "IfRelationTrue")?.to_owned(),
            absent: self.source.required(child, "IfRelationFalse")?.to_owned(),
        }))
    }

    /// Checks that each GUID is of one region, that each named region exists, and that no region
    /// depends on itself.
    fn check(&self) -> Result<()> {
        let mut guids = HashSet::new();
        for region in &self.manifest.regions {
            if !guids.insert(region.guid.as_str()) {
                let found = format!("a second {}", region.guid);
                return Err(self.source.error(
                    region.at,
                    "a Guid of its own for each region",
                    found,
                ));
            }
        }
        for region in &self.manifest.regions {
            let ends = region.ends.iter().flat_map(|(start, stop)| [start, stop]);
            let of_ends = ends.filter_map(|end| match end {
                Endpoint::Region(guid, _) => Some(guid),
                _ => None,
            });
            let of_filters = region
                .filters
                .iter()
                .filter_map(|filter| match &filter.trigger {
                    Trigger::Region(guid) => Some(guid),
                    Trigger::Event(_) => None,
                });
            let of_name = region.naming.iter().filter_map(|naming| match naming {
                Naming::Region { guid, .. } => Some(guid),
                Naming::Field { .. } => None,
            });
            if let Some(guid) = of_ends
                .chain(of_filters)
                .chain(of_name)
                .find(|guid| !guids.contains(guid.as_str()))
            {
                let expected = "a RegionGuid that this file defines";
                return Err(self.source.error(
                    region.at,
                    expected,
                    format!("{guid} in {:?}", region.name),
                ));
            }
        }
        super::order::of(&self.manifest)
            .map(|_| ())
            .map_err(|region| {
                self.source.error(
                    region.at,
                    "no circle of regions",
                    format!("one with {:?}", region.name),
                )
            })
    }
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
