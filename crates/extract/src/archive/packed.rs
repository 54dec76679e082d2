//! One packed file without a directory: `.etl.gz`, `.etlgz`, `.etl.zst`, `.etl.xz`, `.etl.bz2`,
//! `.etl.lz4`.
//!
//! Such a file is a row of parts (members of gzip, frames of zstd and lz4, streams of xz and bzip2),
//! each of which continues the content. Its unpacked size is not known before it is unpacked. So the
//! first bytes decide whether it is unpacked at all, and the limits apply to what was unpacked so
//! far.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use etwkit_base::endings;
use etwkit_etl::session::{HEAD_LEN, check_head};

use super::{Archive, Flaw, Member, MemberSelection};
use crate::kind::{FileKind, Format};
use crate::quiet;
use crate::spool::{Growing, Spool};
use crate::{Error, Result};

/// Bytes that are unpacked at once.
const CHUNK: usize = 1 << 16;

/// The longest distance that a frame of zstd or a stream of xz may look back, as a power of two. `zstd`
/// unpacks no more without an option, `xz -9` needs half of it, and a file of ten bytes can ask for it.
const WINDOW_LOG: u32 = 27;

/// Unpacks the file in a packed one.
pub(super) fn unpack(format: Format, archive: &Archive, spool: &mut Spool) -> Result<Member> {
    let name = endings::unpacked(&archive.own_name);
    let mut input = Input::of(&archive.file).map_err(|e| broken(archive, &name, 0, e))?;
    let mut output = Output {
        format,
        archive,
        head: Vec::new(),
        is_checked: false,
        // The size is not in the head of every format, so that it grows while it is unpacked.
        file: spool.begin(&archive.name, &name, archive.size)?,
    };
    let end = all_parts(format, &mut input, &mut output)?;
    let flaw = match end {
        End::Whole => None,
        End::Rest(bytes) => Some(Flaw::Rest(bytes)),
        End::Broken(error) if output.is_readable() => {
            // The rest of the packed bytes tells nothing about the size of what is lost.
            drop(error);
            Some(Flaw::Broken)
        }
        End::Broken(error) => return Err(broken(archive, &name, output.file.size(), error)),
    };
    // A file that is shorter than the head is judged only here.
    output.check()?;
    let (file, size) = output.file.finish();
    Ok(Member {
        path: name.clone(),
        name,
        size,
        file,
        flaw,
    })
}

/// The first bytes of the file in a packed one, at most `most`. Empty if nothing can be unpacked.
pub(crate) fn head(format: Format, file: &File, most: u64) -> Vec<u8> {
    let mut head = Vec::new();
    let read = quiet::catch(|| {
        let mut input = Input::of(file)?;
        input.skip_frames(format)?;
        decoder(format, &mut input)?
            .take(most)
            .read_to_end(&mut head)
    });
    // What was unpacked before an error is still the start of the file.
    drop(read);
    head
}

/// How the packed data ended.
enum End {
    Whole,
    /// That many bytes that belong to no part.
    Rest(u64),
    /// A part is damaged or cut off.
    Broken(io::Error),
}

fn all_parts(format: Format, input: &mut Input, output: &mut Output<'_>) -> Result<End> {
    loop {
        // A file of several parts is the parts one after the other, as the tools of these formats
        // have it.
        match input.skip_frames(format).and_then(|()| input.is_at_end()) {
            Ok(true) => return Ok(End::Whole),
            Ok(false) => {}
            Err(error) => return Ok(End::Broken(error)),
        }
        // The unpackers of other people panic over some damage.
        let done = quiet::catch(|| one_part(format, input, output));
        match done.unwrap_or_else(|said| Ok(Err(io::Error::other(said))))? {
            Ok(()) => {}
            Err(error) => return Ok(End::Broken(error)),
        }
        match input.next(format) {
            Ok(Next::Part) => {}
            Ok(Next::End) => return Ok(End::Whole),
            Ok(Next::Rest(bytes)) => return Ok(End::Rest(bytes)),
            Err(error) => return Ok(End::Broken(error)),
        }
    }
}

/// Unpacks one part. The outer error is ours, the inner one is in the packed data.
fn one_part(format: Format, input: &mut Input, output: &mut Output<'_>) -> Result<io::Result<()>> {
    let mut decoder = match decoder(format, input) {
        Ok(decoder) => decoder,
        Err(error) => return Ok(Err(error)),
    };
    let mut chunk = vec![0; CHUNK];
    loop {
        match decoder.read(&mut chunk) {
            Ok(0) => break,
            Ok(len) => output.write(chunk.get(..len).unwrap_or(&chunk))?,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Ok(Err(e)),
        }
    }
    drop(decoder);
    // The reader of lz4 takes the end of the file for the end of a frame.
    Ok(if format == Format::Lz4 && input.is_exhausted {
        Err(io::ErrorKind::UnexpectedEof.into())
    } else {
        Ok(())
    })
}

/// The unpacker of the part that starts here. It reads nothing behind that part.
fn decoder<'i>(format: Format, input: &'i mut Input) -> io::Result<Box<dyn Read + 'i>> {
    Ok(match format {
        Format::Gzip => Box::new(flate2::bufread::GzDecoder::new(input)),
        Format::Bzip2 => Box::new(bzip2::bufread::BzDecoder::new(input)),
        Format::Lz4 => Box::new(lz4_flex::frame::FrameDecoder::new(input)),
        Format::Xz => {
            // In KiB, and some more for the state of the unpacker.
            let limit = (1 << (WINDOW_LOG - 10)) + (1 << 10);
            Box::new(lzma_rust2::XzReader::new_mem_limit(input, false, limit))
        }
        Format::Zstd => {
            let mut decoder = zstd::Decoder::with_buffer(input)?.single_frame();
            decoder.window_log_max(WINDOW_LOG)?;
            Box::new(decoder)
        }
    })
}

/// Where unpacked bytes go: into a temporary file, once they look like a trace.
struct Output<'a> {
    format: Format,
    archive: &'a Archive,
    /// The first bytes, until they are checked.
    head: Vec<u8>,
    is_checked: bool,
    file: Growing<'a>,
}

impl Output<'_> {
    fn write(&mut self, chunk: &[u8]) -> Result<()> {
        if !self.is_checked {
            let missing = HEAD_LEN.saturating_sub(self.head.len()).min(chunk.len());
            self.head.extend(chunk.iter().take(missing));
            if self.head.len() == HEAD_LEN {
                self.check()?;
            }
        }
        // Everything is written, also before the check: what was unpacked must not be unpacked
        // twice.
        self.file.write(chunk)
    }

    /// True if what was unpacked starts like a trace, or like an archive that may hold some.
    fn is_readable(&self) -> bool {
        self.is_checked || self.judge().is_ok()
    }

    /// Refuses content that is neither a trace nor an archive, before gigabytes of it are unpacked.
    fn check(&mut self) -> Result<()> {
        if !self.is_checked {
            self.judge()?;
            self.is_checked = true;
            // The head has done its work, and its memory is given back.
            self.head = Vec::new();
        }
        Ok(())
    }

    fn judge(&self) -> Result<()> {
        let archive = || self.archive.name.clone();
        // Other files than traces are wanted, which this check knows nothing of.
        if self.archive.wanted != MemberSelection::TRACES {
            return Ok(());
        }
        match FileKind::of(&self.head) {
            FileKind::Other(found) => Err(Error::ArchiveInside {
                archive: archive(),
                outer: self.format.noun(),
                found,
            }),
            FileKind::Trace if self.head.is_empty() => Err(Error::Empty {
                name: format!(
                    "{}: {}",
                    archive(),
                    endings::unpacked(&self.archive.own_name)
                ),
            }),
            FileKind::Trace => check_head(&self.head).map_err(|source| Error::NotATrace {
                archive: archive(),
                outer: self.format.noun(),
                source,
            }),
            FileKind::Zip | FileKind::SevenZip | FileKind::Cab | FileKind::Packed(_) => Ok(()),
        }
    }
}

fn broken(archive: &Archive, name: &str, position: u64, source: io::Error) -> Error {
    Error::DamagedArchive {
        archive: archive.name.clone(),
        member: Some(name.to_owned()),
        position,
        expected: "intact packed data".to_owned(),
        source: source.into(),
    }
}

/// The packed bytes. They fill the buffer of a reader as far as they reach, which some unpackers
/// rely on.
struct Input {
    file: BufReader<File>,
    /// True if a reader asked for a byte behind the end.
    is_exhausted: bool,
}

/// What follows a part.
enum Next {
    Part,
    End,
    Rest(u64),
}

impl Input {
    fn of(file: &File) -> io::Result<Self> {
        let mut file = file.try_clone()?;
        file.seek(SeekFrom::Start(0))?;
        Ok(Self {
            file: BufReader::with_capacity(CHUNK, file),
            is_exhausted: false,
        })
    }

    /// The next bytes, which stay unread.
    fn peek<const LEN: usize>(&mut self) -> io::Result<([u8; LEN], usize)> {
        let mut bytes = [0; LEN];
        let len = full(&mut self.file, &mut bytes)?;
        // Bytes that were only looked at must be there for the unpacker.
        // Shorter than a small array.
        self.file.seek_relative(-(len as i64))?;
        Ok((bytes, len))
    }

    fn is_at_end(&mut self) -> io::Result<bool> {
        self.file.fill_buf().map(<[u8]>::is_empty)
    }

    /// Finds out what follows a part. Zeros may fill the last block of a tape, or of a stream of xz.
    fn next(&mut self, format: Format) -> io::Result<Next> {
        let from = self.file.stream_position()?;
        while self.fill_buf()?.first() == Some(&0) {
            let zeros = self.file.buffer().iter().take_while(|b| **b == 0).count();
            self.consume(zeros);
        }
        let (head, len) = self.peek::<16>()?;
        let head = head.get(..len).unwrap_or(&head);
        if head.is_empty() {
            return Ok(Next::End);
        }
        if FileKind::of(head) == FileKind::Packed(format) || is_skippable(format, head) {
            return Ok(Next::Part);
        }
        // The rest is counted to the end of the file, whatever it is.
        let end = self.file.seek(SeekFrom::End(0))?;
        Ok(Next::Rest(end.saturating_sub(from)))
    }

    /// Skips frames of zstd and lz4 that hold something for other programs.
    fn skip_frames(&mut self, format: Format) -> io::Result<()> {
        loop {
            let (head, len) = self.peek::<8>()?;
            let [_, _, _, _, size @ ..] = head;
            if len < head.len() || !is_skippable(format, &head) {
                return Ok(());
            }
            self.file
                .seek_relative(8 + i64::from(u32::from_le_bytes(size)))?;
        }
    }
}

fn is_skippable(format: Format, head: &[u8]) -> bool {
    matches!(format, Format::Zstd | Format::Lz4)
        && matches!(head, [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..])
}

/// Reads until the buffer is full or the file ends.
fn full(from: &mut impl Read, buf: &mut [u8]) -> io::Result<usize> {
    let mut done = 0;
    while let Some(rest) = buf.get_mut(done..).filter(|rest| !rest.is_empty()) {
        match from.read(rest) {
            Ok(0) => break,
            Ok(len) => done += len,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(done)
}

impl Read for Input {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let done = full(&mut self.file, buf)?;
        self.is_exhausted |= done < buf.len();
        Ok(done)
    }
}

impl BufRead for Input {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.file.fill_buf()
    }

    fn consume(&mut self, len: usize) {
        self.file.consume(len);
    }
}
