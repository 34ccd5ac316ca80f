//! Texts too large to stand in a scenario file.

use serde::Deserialize;

/// A text of so many bytes: numbered lines in several scripts, so that what is lost, moved or doubled shows.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "Wanted")]
pub struct LargeText(String);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    bytes: usize,
}

impl LargeText {
    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl From<Wanted> for LargeText {
    fn from(wanted: Wanted) -> Self {
        let mut text = String::with_capacity(wanted.bytes);
        for number in 1_u32.. {
            let line =
                format!("{number:>7}  \tthe lines are counted, größer, 日本語, 👩‍🚀, and no two are alike\n");
            if text.len() + line.len() > wanted.bytes {
                break;
            }
            text.push_str(&line);
        }
        text.extend(std::iter::repeat_n('.', wanted.bytes - text.len()));
        Self(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_text_has_the_bytes_that_were_asked_for() {
        for bytes in [0, 1, 100, 65_536] {
            assert_eq!(LargeText::from(Wanted { bytes }).text().len(), bytes);
        }
    }
}
