//! To be written.

use super::clause::Group;

pub(crate) const CLAUSES: Group = &[];
