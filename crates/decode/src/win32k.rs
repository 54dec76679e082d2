//! Events of the window manager: its global lock, its objects, delays of input and messages, and
//! the focus.
//!
//! Layouts are those of the provider's published manifest. It kept version 0 when fields were
//! added, so only the length of a payload shows its fields. Numbers in milliseconds have the
//! resolution of the system's tick count.

use etwkit_etl::bytes::Cursor;
use etwkit_etl::{Guid, RawEvent};

/// Microsoft-Windows-Win32k.
pub const WIN32K: Guid = Guid::literal("8c416c79-d49b-4f01-a467-e56d3aa8234c");

/// The mode in which the global lock (`UserCrit`) is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Held by one thread.
    Exclusive,
    /// Held by any number of threads that change nothing.
    Shared,
}

impl Mode {
    /// `exclusive` or `shared`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exclusive => "exclusive",
            Self::Shared => "shared",
        }
    }
}

/// A thread got the global lock. One acquisition may be reported by several events, which have the
/// same token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Acquired {
    /// ID of the event: a slow acquisition is reported by an event with another ID, after the
    /// common one.
    pub id: u16,
    /// The mode in which it is held.
    pub mode: Mode,
    /// Wait of the thread in ticks of the performance counter; 0 if only `wait_us` has it.
    pub wait_qpc: u64,
    /// Wait of the thread in microseconds; 0 in many versions.
    pub wait_us: u64,
    /// Number of the acquisition.
    pub token: u64,
}

/// A thread is about to release the global lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Released {
    /// Time that the thread held it, in ticks of the performance counter. Older versions count from
    /// the request.
    pub hold_qpc: u64,
}

/// The class of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Objects to draw with: fonts, bitmaps, …
    Gdi,
    /// Windows, menus, cursors, …
    User,
}

impl Class {
    /// `gdi` or `user`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gdi => "gdi",
            Self::User => "user",
        }
    }

    /// Name of a type of objects, as the table of handles numbers it; `None` for others.
    #[must_use]
    pub const fn type_name(self, number: u32) -> Option<&'static str> {
        Some(match (self, number) {
            (Self::User, 1) => "Window",
            (Self::User, 2) => "Menu",
            (Self::User, 3) => "Cursor",
            (Self::User, 4) => "WindowPositions",
            (Self::User, 5) => "Hook",
            (Self::User, 6) => "ClipboardData",
            (Self::User, 7) => "CallProc",
            (Self::User, 8) => "Accelerator",
            (Self::User, 9) => "DdeAccess",
            (Self::User, 10) => "DdeConversation",
            (Self::User, 11) => "DdeTransaction",
            (Self::User, 12) => "Monitor",
            (Self::User, 13) => "KeyboardLayout",
            (Self::User, 14) => "KeyboardFile",
            (Self::User, 15) => "WinEventHook",
            (Self::User, 16) => "Timer",
            (Self::User, 17) => "InputContext",
            (Self::Gdi, 1) => "DC",
            (Self::Gdi, 4) => "Region",
            (Self::Gdi, 5) => "Bitmap",
            (Self::Gdi, 8) => "Palette",
            (Self::Gdi, 10) => "Font",
            (Self::Gdi, 16) => "Brush",
            (Self::Gdi, 48) => "Pen",
            (Self::Gdi, 80) => "ExtPen",
            _ => return None,
        })
    }
}

/// A step in the life of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// It was created.
    Create,
    /// It was destroyed.
    Destroy,
    /// Its owner changed.
    Owner,
    /// Its handle changed; this is the old one.
    Transform(u64),
}

/// An event of a GDI or USER object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectEvent {
    /// The class of objects.
    pub class: Class,
    /// The step.
    pub step: Step,
    /// Its handle.
    pub handle: u64,
    /// Number of its type, see [`Class::type_name`].
    pub kind: u32,
    /// Terminal session; handles of several sessions may have the same value.
    pub session: u32,
    /// Process that has it; 0 for none.
    pub owner: u32,
}

/// The kind of a delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DelayKind {
    /// The thread was late in taking the next input.
    Input,
    /// The thread was late in retrieving messages.
    Message,
    /// The wait cursor was shown.
    WaitCursor,
}

impl DelayKind {
    /// `input`, `message` or `wait_cursor`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Message => "message",
            Self::WaitCursor => "wait_cursor",
        }
    }
}

/// A delay, reported at its end. Fields that a version lacks are `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delay {
    /// The kind of delay.
    pub kind: DelayKind,
    /// Duration; for input the age of the oldest waiting input.
    pub duration_ms: u32,
    /// Bits that describe the thread.
    pub flags: Option<u32>,
    /// Time since the thread retrieved input.
    pub since_input_remove_ms: Option<u32>,
    /// Age of the oldest input that waits.
    pub since_oldest_input_ms: Option<u32>,
    /// Class of the window.
    pub class_name: Option<String>,
    /// Class of the window at the top.
    pub top_level_class_name: Option<String>,
    /// Path of the program.
    pub image_path: Option<String>,
    /// Package of an application of the store.
    pub package: Option<String>,
    /// The message that was worked on.
    pub message_id: Option<u32>,
    /// Its first parameter.
    pub wparam: Option<u64>,
    /// Process and thread, if they differ from the header's.
    pub whose: Option<(u32, u32)>,
    /// The cursor.
    pub cursor: Option<u32>,
}

/// The focus moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    /// The focus moved from one thread to another; 0 is none.
    Threads(u32, u32),
    /// Within a session from one process to another; 0 is none.
    Processes(u32, u32, u32),
    /// A process of a session got it.
    Gained(u32, u32),
    /// A process of a session lost it.
    Lost(u32, u32),
}

/// The decoded content of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The global lock was acquired.
    Acquired(Acquired),
    /// The global lock is released.
    Released(Released),
    /// An object was created, destroyed or changed.
    Object(ObjectEvent),
    /// A delay.
    Delay(Box<Delay>),
    /// The focus moved.
    Focus(Focus),
}

impl Event {
    /// Reads an event; `None` for other events and truncated payloads.
    #[must_use]
    pub fn read(event: &RawEvent<'_>) -> Option<Self> {
        if !event.kind.is_manifest() || event.provider() != WIN32K {
            return None;
        }
        Self::parse(event.descriptor().id, event.payload(), event.pointer_size())
    }

    /// Reads a payload.
    #[must_use]
    pub fn parse(id: u16, payload: &[u8], pointer_size: usize) -> Option<Self> {
        let mut c = Cursor::new(payload);
        // IDs and layouts were taken from the manifest of the provider, see the tables of this
        // crate.
        Some(match id {
            163 | 164 => Self::Acquired(acquired(&mut c, id, Mode::Exclusive, 1)?),
            165 | 166 => Self::Acquired(acquired(&mut c, id, Mode::Shared, 1)?),
            // Version 1 gave the time its right name: it always was in milliseconds.
            416 => Self::Acquired(acquired(&mut c, id, Mode::Exclusive, 1000)?),
            417 => Self::Acquired(acquired(&mut c, id, Mode::Shared, 1000)?),
            167 => Self::Released(Released { hold_qpc: c.u64()? }),
            452..=458 => Self::Object(object(&mut c, id, pointer_size)?),
            35 => Self::Delay(Box::new(wait_cursor(&mut c)?)),
            37 | 172 => Self::Delay(Box::new(delay(&mut c, DelayKind::Input, id == 172)?)),
            38 | 173 => Self::Delay(Box::new(delay(&mut c, DelayKind::Message, id == 173)?)),
            2 => Self::Focus(Focus::Threads(c.u32()?, c.u32()?)),
            26 => Self::Focus(Focus::Processes(c.u32()?, c.u32()?, c.u32()?)),
            258 => Self::Focus(Focus::Gained(c.u32()?, c.u32()?)),
            259 => Self::Focus(Focus::Lost(c.u32()?, c.u32()?)),
            _ => return None,
        })
    }

    /// Processes in the payload, which may differ from the header's; 0 if there is none.
    #[must_use]
    pub const fn processes(&self) -> [u32; 2] {
        match self {
            Self::Object(object) => [object.owner, 0],
            Self::Focus(Focus::Processes(_, old, new)) => [*old, *new],
            Self::Focus(Focus::Gained(_, pid) | Focus::Lost(_, pid)) => [*pid, 0],
            Self::Delay(delay) => match delay.whose {
                Some((pid, _)) => [pid, 0],
                None => [0, 0],
            },
            Self::Acquired(_) | Self::Released(_) | Self::Focus(Focus::Threads(..)) => [0, 0],
        }
    }
}

fn acquired(c: &mut Cursor<'_>, id: u16, mode: Mode, unit_us: u64) -> Option<Acquired> {
    let wait_qpc = c.u64()?;
    let wait_us = u64::from(c.u32()?) * unit_us;
    Some(Acquired {
        id,
        mode,
        wait_qpc,
        wait_us,
        token: c.u64()?,
    })
}

fn object(c: &mut Cursor<'_>, id: u16, pointer_size: usize) -> Option<ObjectEvent> {
    let handle = c.pointer(pointer_size)?;
    let (step, handle) = match id {
        452 | 455 => (Step::Create, handle),
        453 | 456 => (Step::Destroy, handle),
        454 | 457 => (Step::Owner, handle),
        // The old handle comes before the new one, which is the object from now on.
        _ => (Step::Transform(handle), c.pointer(pointer_size)?),
    };
    let class = if id < 455 { Class::User } else { Class::Gdi };
    Some(ObjectEvent {
        class,
        step,
        handle,
        kind: c.u32()?,
        session: c.u32()?,
        owner: c.u32()?,
    })
}

fn wait_cursor(c: &mut Cursor<'_>) -> Option<Delay> {
    let tid = c.u32()?;
    let pid = c.u32()?;
    c.u32()?; // session
    let cursor = c.u32()?;
    let duration_ms = c.u32()?;
    Some(Delay {
        kind: DelayKind::WaitCursor,
        duration_ms,
        flags: None,
        since_input_remove_ms: None,
        since_oldest_input_ms: None,
        class_name: None,
        top_level_class_name: None,
        image_path: None,
        package: None,
        message_id: None,
        wparam: None,
        whose: Some((pid, tid)),
        cursor: Some(cursor),
    })
}

fn delay(c: &mut Cursor<'_>, kind: DelayKind, of_store: bool) -> Option<Delay> {
    let flags = c.u32()?;
    // Only a delay of messages reports its length. A delay of input lasts as long as the oldest
    // input waits.
    let reported = if kind == DelayKind::Message {
        Some(c.u32()?)
    } else {
        None
    };
    let remove = c.u32()?;
    let oldest = c.u32()?;
    let class_name = text(c);
    let top_level_class_name = text(c);
    let third = text(c);
    // Store applications have one text more.
    if of_store {
        text(c); // id of the application, which the package names as well
    }
    let (image_path, package) = if of_store {
        (None, third)
    } else {
        (third, None)
    };
    Some(Delay {
        kind,
        // The oldest input is waiting since the delay began.
        duration_ms: reported.unwrap_or(oldest),
        flags: Some(flags),
        since_input_remove_ms: Some(remove),
        since_oldest_input_ms: Some(oldest),
        class_name,
        top_level_class_name,
        image_path,
        package,
        // Payloads of older versions end before these fields.
        message_id: c.u32(),
        wparam: c.u64(),
        whose: None,
        cursor: None,
    })
}

/// A text of newer versions; `None` if the payload has ended, or if it is empty.
fn text(c: &mut Cursor<'_>) -> Option<String> {
    Some(c.text()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn wide(text: &str) -> Vec<u8> {
        text.encode_utf16()
            .chain([0])
            .flat_map(u16::to_le_bytes)
            .collect()
    }

    #[test]
    fn acquisitions_report_ticks_or_a_time() {
        let payload = words(&[500, 0, 7, 42, 0]);
        for (id, mode, wait_us) in [
            (163, Mode::Exclusive, 7),
            (164, Mode::Exclusive, 7),
            (165, Mode::Shared, 7),
            (166, Mode::Shared, 7),
            (416, Mode::Exclusive, 7000),
            (417, Mode::Shared, 7000),
        ] {
            let expected = Acquired {
                id,
                mode,
                wait_qpc: 500,
                wait_us,
                token: 42,
            };
            assert_eq!(
                Event::parse(id, &payload, 8),
                Some(Event::Acquired(expected)),
                "{id}"
            );
            assert_eq!(Event::parse(id, &payload[..19], 8), None, "{id}");
        }
        assert_eq!(
            Event::parse(167, &payload, 8),
            Some(Event::Released(Released { hold_qpc: 500 }))
        );
    }

    #[test]
    fn objects_have_handles_of_the_size_of_a_pointer() {
        let wide_handle = [&0x0105_0aaa_u64.to_le_bytes()[..], &words(&[5, 1, 4711])].concat();
        let object = |class, step| ObjectEvent {
            class,
            step,
            handle: 0x0105_0aaa,
            kind: 5,
            session: 1,
            owner: 4711,
        };
        for (id, class, step) in [
            (452, Class::User, Step::Create),
            (453, Class::User, Step::Destroy),
            (454, Class::User, Step::Owner),
            (455, Class::Gdi, Step::Create),
            (456, Class::Gdi, Step::Destroy),
            (457, Class::Gdi, Step::Owner),
        ] {
            assert_eq!(
                Event::parse(id, &wide_handle, 8),
                Some(Event::Object(object(class, step))),
                "{id}"
            );
        }
        let narrow = words(&[0x0105_0bbb, 0x0105_0aaa, 5, 1, 4711]);
        let expected = object(Class::Gdi, Step::Transform(0x0105_0bbb));
        assert_eq!(Event::parse(458, &narrow, 4), Some(Event::Object(expected)));
        assert_eq!(Event::parse(458, &narrow[..16], 4), None);
    }

    #[test]
    fn names_of_types_differ_between_the_classes() {
        assert_eq!(
            (Class::User.type_name(1), Class::Gdi.type_name(1)),
            (Some("Window"), Some("DC"))
        );
        assert_eq!(
            (Class::User.type_name(10), Class::Gdi.type_name(10)),
            (Some("DdeConversation"), Some("Font"))
        );
        assert_eq!(
            (Class::User.type_name(0), Class::Gdi.type_name(2)),
            (None, None)
        );
    }

    #[test]
    fn delays_have_as_many_fields_as_the_payload() {
        let short = words(&[1, 300, 40, 250]);
        let Some(Event::Delay(delay)) = Event::parse(38, &short, 8) else {
            panic!()
        };
        assert_eq!(
            (delay.kind, delay.duration_ms, delay.flags),
            (DelayKind::Message, 300, Some(1))
        );
        assert_eq!(
            (delay.since_input_remove_ms, delay.since_oldest_input_ms),
            (Some(40), Some(250))
        );
        assert_eq!(
            (delay.class_name, delay.image_path, delay.message_id),
            (None, None, None)
        );
        let names = [
            wide("Edit"),
            wide("Notepad"),
            wide("C:\\notepad.exe"),
            words(&[0x100, 65, 0]),
        ]
        .concat();
        let long = [words(&[1, 40, 250]), names].concat();
        let Some(Event::Delay(delay)) = Event::parse(37, &long, 8) else {
            panic!()
        };
        assert_eq!((delay.kind, delay.duration_ms), (DelayKind::Input, 250));
        assert_eq!(delay.class_name.as_deref(), Some("Edit"));
        assert_eq!(delay.top_level_class_name.as_deref(), Some("Notepad"));
        assert_eq!(delay.image_path.as_deref(), Some("C:\\notepad.exe"));
        assert_eq!((delay.message_id, delay.wparam), (Some(0x100), Some(65)));
        assert_eq!(Event::parse(37, &short[..8], 8), None);
    }

    #[test]
    fn programs_of_the_store_have_a_package_instead_of_a_path() {
        let names = [
            wide("A"),
            wide(""),
            wide("Contoso.Mail_1.0"),
            wide("Contoso!App"),
            words(&[5, 6, 0]),
        ]
        .concat();
        let payload = [words(&[0, 900, 1, 2]), names].concat();
        let Some(Event::Delay(delay)) = Event::parse(173, &payload, 8) else {
            panic!()
        };
        assert_eq!((delay.top_level_class_name, delay.image_path), (None, None));
        assert_eq!(delay.package.as_deref(), Some("Contoso.Mail_1.0"));
        assert_eq!(
            (delay.duration_ms, delay.message_id, delay.wparam),
            (900, Some(5), Some(6))
        );
    }

    #[test]
    fn the_focus_moves() {
        assert_eq!(
            Event::parse(2, &words(&[11, 12]), 8),
            Some(Event::Focus(Focus::Threads(11, 12)))
        );
        let processes = Event::parse(26, &words(&[1, 100, 200]), 8).unwrap();
        assert_eq!(processes, Event::Focus(Focus::Processes(1, 100, 200)));
        assert_eq!(processes.processes(), [100, 200]);
        let create_time = [words(&[1, 200]), vec![0; 8]].concat();
        assert_eq!(
            Event::parse(258, &create_time, 8),
            Some(Event::Focus(Focus::Gained(1, 200)))
        );
        assert_eq!(
            Event::parse(259, &create_time, 8),
            Some(Event::Focus(Focus::Lost(1, 200)))
        );
        let cursor = Event::parse(35, &words(&[12, 100, 1, 102, 1500]), 8).unwrap();
        assert_eq!(cursor.processes(), [100, 0]);
        let Event::Delay(cursor) = cursor else {
            panic!()
        };
        assert_eq!(
            (cursor.whose, cursor.duration_ms, cursor.cursor),
            (Some((100, 12)), 1500, Some(102))
        );
    }
}
