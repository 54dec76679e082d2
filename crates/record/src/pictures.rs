//! Pictures of the screen with marks. They are in a folder of their own during a recording, and
//! next to the recording after its end, where `etwkit extract` finds them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use etwkit_terminal::errors::advised;

use crate::failure;
use crate::recording::Machine;
use crate::step::Step;

impl Machine<'_> {
    /// Takes a picture of all screens; its name is the time of day.
    ///
    /// # Errors
    /// No screen is visible, or the picture cannot be written.
    pub(crate) fn picture(&mut self) -> Result<PathBuf> {
        let folder = self.pictures();
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        let file = folder.join(format!(
            "Screenshot_Forced_{}.jpg",
            self.clock.now().format("%H.%M.%S%.3f")
        ));
        let step = step(&file.display().to_string());
        let outcome = self.outcome(&step)?;
        if !outcome.is_done() || !file.exists() {
            let said = failure::error(&step, &outcome);
            return Err(advised(
                format!("there is no picture: {said}"),
                "pictures need a desktop that is seen: no service, no session that is locked",
            ));
        }
        Ok(file)
    }

    /// Moves the pictures next to a recording and returns their number.
    ///
    /// # Errors
    /// They cannot be moved and remain in their folder.
    pub(crate) fn move_pictures(&self, etl: &Path) -> Result<usize> {
        let from = self.pictures();
        let Ok(all) = fs::read_dir(&from) else {
            return Ok(0);
        };
        let to = etl.with_added_extension("Screenshots");
        let cannot = || {
            format!(
                "cannot move the pictures in {} to {}",
                from.display(),
                to.display()
            )
        };
        let mut count = 0;
        for file in all {
            let file = file.with_context(cannot)?;
            fs::create_dir_all(&to).with_context(cannot)?;
            // A rename to another disk fails.
            let target = to.join(file.file_name());
            fs::copy(file.path(), &target).with_context(cannot)?;
            count += 1;
        }
        fs::remove_dir_all(&from).with_context(cannot)?;
        Ok(count)
    }

    /// Deletes the pictures of a recording that was discarded, or ended by other programs.
    pub(crate) fn forget_pictures(&self) {
        let _ = fs::remove_dir_all(self.pictures());
    }

    fn pictures(&self) -> PathBuf {
        self.folder.join("Screenshots")
    }
}

/// Returns the line that writes a picture of all screens into that file.
pub(crate) fn step(file: &str) -> Step {
    let code = format!(
        "$ErrorActionPreference = 'Stop'; Add-Type -AssemblyName System.Windows.Forms, System.Drawing; \
         $s = [System.Windows.Forms.SystemInformation]::VirtualScreen; \
         $b = New-Object System.Drawing.Bitmap $s.Width, $s.Height; \
         $g = [System.Drawing.Graphics]::FromImage($b); \
         $g.CopyFromScreen($s.Left, $s.Top, 0, 0, $b.Size); \
         $b.Save('{}', [System.Drawing.Imaging.ImageFormat]::Jpeg)",
        file.replace('\'', "''")
    );
    let args = ["-NoProfile", "-NonInteractive", "-Command", &code]
        .map(str::to_owned)
        .to_vec();
    Step {
        program: "powershell",
        args,
        why: "Takes a picture of all screens.".into(),
    }
}
