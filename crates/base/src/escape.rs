//! Texts inside documents of XML and HTML.

/// The entity of a character that has a meaning in XML and HTML, in texts and between quotes of attributes.
#[must_use]
pub const fn xml_entity(letter: char) -> Option<&'static str> {
    match letter {
        '&' => Some("&amp;"),
        '<' => Some("&lt;"),
        '>' => Some("&gt;"),
        '"' => Some("&quot;"),
        '\'' => Some("&#39;"),
        _ => None,
    }
}

/// Escapes a text for a document of XML or HTML.
#[must_use]
pub fn xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match xml_entity(letter) {
            Some(entity) => escaped.push_str(entity),
            None => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_ends_its_element_or_attribute() {
        assert_eq!(
            xml(r#"</title><script a='"'>&ü"#),
            "&lt;/title&gt;&lt;script a=&#39;&quot;&#39;&gt;&amp;ü"
        );
    }
}
