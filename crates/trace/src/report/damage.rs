//! Damage in the files of a session.

use etwkit_etl::Session;
use etwkit_etl::damage::Damage;
use etwkit_etl::session::Pass;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// All damage of a session, by kind and by place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DamageReport {
    /// By kind; an object with a member for each kind. Empty if nothing is wrong.
    #[serde(serialize_with = "by_kind")]
    pub counts: Vec<DamageCount>,
    /// The first places, at most a hundred.
    pub first_places: Vec<DamagePlace>,
}

/// Number of occurrences of a kind of damage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DamageCount {
    /// The kind of damage, as one word.
    #[serde(skip)]
    pub kind: &'static str,
    /// The effect on the numbers, in words for the reader.
    #[serde(skip)]
    pub meaning: &'static str,
    /// Places.
    pub places: u64,
    /// Bytes lost, as far as known.
    pub bytes: u64,
}

/// One place of damage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DamagePlace {
    /// The kind of damage, as one word.
    pub kind: &'static str,
    /// Index of the file in the session, from 0.
    pub file: usize,
    /// Offset in that file.
    pub offset: u64,
    /// Bytes lost, as far as known.
    pub bytes: u64,
}

impl DamageReport {
    /// True if there is no damage.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
}

impl From<&Damage> for DamageReport {
    fn from(damage: &Damage) -> Self {
        let count = |(kind, count): (etwkit_etl::damage::DamageKind, etwkit_etl::damage::Count)| {
            DamageCount {
                kind: kind.name(),
                meaning: kind.meaning(),
                places: count.places,
                bytes: count.bytes,
            }
        };
        let place = |place: &etwkit_etl::damage::DamageAt| DamagePlace {
            kind: place.kind.name(),
            file: place.file,
            offset: place.offset,
            bytes: place.bytes,
        };
        Self {
            counts: damage.counts().map(count).collect(),
            first_places: damage.first_places().iter().map(place).collect(),
        }
    }
}

/// The damage between buffers, and the damage that a pass over the events found inside them.
pub(super) fn of_pass(session: &Session, pass: &Pass) -> Damage {
    let mut damage = session.damage().clone();
    damage.merge(&pass.damage);
    damage
}

fn by_kind<S: Serializer>(counts: &[DamageCount], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(counts.len()))?;
    for count in counts {
        map.serialize_entry(count.kind, count)?;
    }
    map.end()
}
