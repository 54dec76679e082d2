//! The secret of a link.

/// Random bytes of a token: 192 bits.
const BYTES: usize = 24;

/// The token that requests have to present: hexadecimal digits.
#[derive(Clone)]
pub struct Token(String);

/// Hides the secret, so that no log contains it.
impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token")
    }
}

impl Token {
    /// Creates a random token.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn new() -> std::io::Result<Self> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        Ok(Self(
            bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        ))
    }

    /// Creates a token from a given text.
    #[must_use]
    pub const fn chosen(text: String) -> Self {
        Self(text)
    }

    /// Returns its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// True if a value of the header `Authorization` contains the token. Each wrong value takes the
    /// same time, so that timing does not reveal the token digit by digit.
    pub(crate) fn is_in(&self, authorization: &[u8]) -> bool {
        let Some(given) = authorization.strip_prefix(b"Bearer ") else {
            return false;
        };
        let expected = self.0.as_bytes();
        if given.len() != expected.len() {
            return false;
        }
        let differing = given
            .iter()
            .zip(expected)
            .fold(0, |all, (a, b)| all | (a ^ b));
        std::hint::black_box(differing) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_fits() {
        let token = Token::new().unwrap();
        assert_eq!(token.as_str().len(), BYTES * 2);
        assert_ne!(token.as_str(), Token::new().unwrap().as_str());
        let header = format!("Bearer {}", token.as_str());
        assert!(token.is_in(header.as_bytes()));
        let mut wrong = header.clone().into_bytes();
        *wrong.last_mut().unwrap() ^= 1;
        let other = header.replace("Bearer", "Basic");
        for bad in [
            &wrong,
            &header.as_bytes()[..header.len() - 1],
            other.as_bytes(),
            b"",
            b"Bearer ",
        ] {
            assert!(!token.is_in(bad));
        }
    }
}
