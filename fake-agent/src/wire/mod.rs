//! The JSON-RPC lines on the standard streams: reading, composing and writing them.

pub(crate) mod compose;
pub(crate) mod input;
pub(crate) mod lines;
pub(crate) mod message;
pub(crate) mod output;
