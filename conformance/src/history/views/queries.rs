//! What a program asks of its terminal, as far as a terminal of OpenRig's answers.

/// A query, at the moment it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Query {
    /// `CSI c`: what kind of terminal it is.
    Attributes,
    /// `CSI > c`: which version of it.
    SecondaryAttributes,
    /// `CSI > q`: its name and version.
    Version,
    /// `CSI 5 n`: whether it is well.
    Status,
    /// `CSI 6 n`: where the cursor is, row and column from 1.
    Cursor(u16, u16),
    /// `CSI 18 t`: its size, rows and columns.
    Size(u16, u16),
}

impl Query {
    /// The query that a control sequence is. `cursor` and `size` are (row, column) from 0 and (rows, columns).
    pub(super) fn of(
        intermediates: (Option<u8>, Option<u8>),
        parameters: &[&[u16]],
        last: char,
        cursor: (u16, u16),
        size: (u16, u16),
    ) -> Option<Self> {
        let only = match parameters {
            [] => 0,
            [[only]] => *only,
            _ => return None,
        };
        Some(match (intermediates, last, only) {
            ((None, None), 'c', 0) => Self::Attributes,
            ((Some(b'>'), None), 'c', 0) => Self::SecondaryAttributes,
            ((Some(b'>'), None), 'q', 0) => Self::Version,
            ((None, None), 'n', 5) => Self::Status,
            // After the last column was written the cursor waits behind it.
            ((None, None), 'n', 6) => Self::Cursor(cursor.0 + 1, (cursor.1 + 1).min(size.1)),
            ((None, None), 't', 18) => Self::Size(size.0, size.1),
            _ => return None,
        })
    }
}
