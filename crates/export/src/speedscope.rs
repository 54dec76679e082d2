//! Profiles for speedscope (<https://www.speedscope.app>): the form `sampled` of its format.
//!
//! One profile holds all requested stacks. Equal stacks become one sample with their common weight,
//! so that a file does not grow with the length of a trace; samples are in the order of the names
//! of their frames, outermost first. The numbers equal the numbers of `dump cpu`.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek, Write};

use crate::json::{milliseconds, text as json};
use crate::profile::{Format, Head, Samples, WeighedStack, Writer, WrittenProfile};
use crate::stacks::Names;
use crate::{Error, Result};

/// The format.
pub(crate) struct Speedscope;

impl Format for Speedscope {
    fn name(&self) -> &'static str {
        "speedscope"
    }

    fn sentence(&self) -> &'static str {
        "JSON for speedscope (www.speedscope.app), and for other readers of its files"
    }

    fn begin<'o>(&self, out: &'o mut dyn Write, head: &Head<'_>) -> Result<Writer<'o>> {
        // A file without a name, which the system removes however the program ends.
        let spool = match head.temp_dir {
            Some(folder) => tempfile::tempfile_in(folder),
            None => tempfile::tempfile(),
        };
        let weights = BufWriter::new(spool.map_err(Error::Spool)?);
        let name = json(head.name);
        let version = env!("CARGO_PKG_VERSION");
        write!(
            out,
            "{{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"etwkit {version}\",\n\
             \"name\":{name},\"activeProfileIndex\":0,\"profiles\":[\n\
             {{\"type\":\"sampled\",\"name\":{name},\"unit\":\"milliseconds\",\"startValue\":0,\"samples\":["
        )
        .map_err(Error::Write)?;
        Ok(Writer::Stacks(Box::new(Sampled {
            out,
            weights,
            is_first: true,
        })))
    }
}

/// Writes samples as they come. Weights come after all samples in the file, so they wait in a
/// temporary file.
struct Sampled<'o> {
    out: &'o mut dyn Write,
    weights: BufWriter<File>,
    is_first: bool,
}

impl Samples for Sampled<'_> {
    fn sample(&mut self, sample: &WeighedStack<'_>, _: &Names) -> Result<()> {
        let comma = if std::mem::replace(&mut self.is_first, false) {
            ""
        } else {
            ","
        };
        let frames: Vec<String> = sample.path.iter().map(u32::to_string).collect();
        write!(self.out, "{comma}\n[{}]", frames.join(",")).map_err(Error::Write)?;
        write!(self.weights, "{comma}\n{}", milliseconds(sample.weight_ns)).map_err(Error::Spool)
    }

    fn end(self: Box<Self>, written: &WrittenProfile, names: &Names) -> Result<()> {
        let Self { out, weights, .. } = *self;
        out.write_all(b"],\n\"weights\":[").map_err(Error::Write)?;
        let mut weights = weights
            .into_inner()
            .map_err(|error| Error::Spool(error.into_error()))?;
        weights.rewind().map_err(Error::Spool)?;
        io::copy(&mut BufReader::new(weights), out).map_err(Error::Write)?;
        write!(
            out,
            "],\n\"endValue\":{}}}],\n\"shared\":{{\"frames\":[",
            milliseconds(written.total_ns)
        )
        .map_err(Error::Write)?;
        for (place, name) in names.texts().enumerate() {
            let comma = if place > 0 { "," } else { "" };
            write!(out, "{comma}\n{{\"name\":{}}}", json(name)).map_err(Error::Write)?;
        }
        out.write_all(b"]}}\n").map_err(Error::Write)
    }
}
