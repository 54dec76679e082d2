//! Keys that match rows of both sides: names without the parts that differ in each run.

/// Length of a command line that is compared; later characters make no difference that matters.
const MOST: usize = 512;

/// Normalizes a command line: lower case, and `#` for numbers and identifiers, which differ from
/// run to run.
pub(super) fn command_line(text: &str) -> String {
    let mut normal = String::new();
    let mut word = String::new();
    for c in text.chars().take(MOST).chain(std::iter::once(' ')) {
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
            continue;
        }
        push(&mut normal, &word);
        word.clear();
        // Spaces and quotes are ignored: programs that start others write them in different ways.
        match c {
            '"' => {}
            c if c.is_whitespace() => {
                if !normal.is_empty() && !normal.ends_with(' ') {
                    normal.push(' ');
                }
            }
            c => normal.push(c),
        }
    }
    // A GUID has become a chain of numbers: `#-#-#-#-#`.
    while normal.contains("#-#") {
        normal = normal.replace("#-#", "#");
    }
    normal.trim_end().to_owned()
}

/// Adds a word, or `#` for its digits. Four hexadecimal digits or more, the length of the groups of
/// a GUID, are a number as a whole.
fn push(normal: &mut String, word: &str) {
    let has_digit = word.contains(|c: char| c.is_ascii_digit());
    let is_hex = word.chars().all(|c| c.is_ascii_hexdigit());
    if has_digit && is_hex && (word.len() >= 4 || word.chars().all(|c| c.is_ascii_digit())) {
        normal.push('#');
        return;
    }
    for c in word.chars() {
        match c {
            c if !c.is_ascii_digit() => normal.push(c),
            _ if normal.ends_with('#') => {}
            _ => normal.push('#'),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::command_line;

    #[test]
    fn what_counts_anew_in_each_run_is_left_out() {
        for (text, normal) in [
            (
                r#""C:\App\Writer.exe"  -out C:\temp\run-4711.tmp"#,
                r"c:\app\writer.exe -out c:\temp\run-#.tmp",
            ),
            ("svchost.exe -k netsvcs -p", "svchost.exe -k netsvcs -p"),
            ("x {6B29FC40-CA47-1067-B31D-00DD010662DA}", "x {#}"),
            ("x /pipe:0x1f2e3d4c part12", "x /pipe:#x#f#e#d#c part#"),
            ("", ""),
        ] {
            assert_eq!(command_line(text), normal, "{text}");
        }
    }
}
