//! The activity token: the one secret of a seat.

use std::fmt;

use crate::{Result, random};

/// A seat's activity token. It shows itself only through [`Token::reveal`], so that no log or test failure prints
/// it by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

impl Token {
    /// A new token of 64 random hexadecimal digits.
    ///
    /// # Errors
    /// If the system gives no random bytes.
    pub fn random() -> Result<Self> {
        random::hex_64().map(Self)
    }

    /// The secret itself, for the environment, the endpoint file and comparisons.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<String> for Token {
    fn from(secret: String) -> Self {
        Self(secret)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(…)")
    }
}
