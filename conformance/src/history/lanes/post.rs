//! The lane of posts: requests to the activity endpoint.

use serde::{Deserialize, Serialize};

use crate::history::Bytes;

/// The activity endpoint. `id` counts the requests of a seat from 1, over all its launches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PostFact {
    /// A request's head arrived.
    Started {
        /// Which request.
        id: u64,
        /// `POST`.
        method: String,
        /// Path and query.
        path: String,
        /// What the request said for itself.
        authorization: Authorization,
        /// Its body, whole, or its beginning.
        body: Bytes,
        /// The body was longer than what is kept.
        body_cut: bool,
    },
    /// A request ended.
    Ended {
        /// Which request.
        id: u64,
        /// How.
        how: PostEnd,
    },
    /// More requests came than are kept.
    Flooded {
        /// How many were not kept.
        count: u64,
    },
}

/// The credentials of a request; the token itself is never kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Authorization {
    /// `Authorization: Bearer` with the token.
    Right,
    /// Another token, or another scheme.
    Wrong,
    /// None.
    Absent,
    /// The token in OpenRig's own header only.
    OtherHeader,
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PostEnd {
    /// An answer was sent.
    Answered {
        /// HTTP status.
        status: u16,
    },
    /// The client went away before the answer.
    GivenUp,
    /// The endpoint broke the connection.
    Broken,
}
