//! What the endpoint reports of its exchanges.

/// One event of the endpoint. Times are nanoseconds of CLOCK_MONOTONIC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exchange {
    /// A request came in. Reported when its body was read, or when the client left before that.
    Started {
        /// Names the exchange; counts from 1 in the order in which heads arrived.
        id: u64,
        /// When its head had arrived.
        at: u64,
        /// When its body had arrived; none if the client left in the middle of it.
        body_at: Option<u64>,
        /// The method, as `POST`.
        method: String,
        /// The path with its query, cut at 1024 characters.
        path: String,
        /// What it brought to show that it may post.
        authorization: Authorization,
        /// The Content-Type header, cut at 256 characters.
        content_type: Option<String>,
        /// The body.
        body: Vec<u8>,
        /// Whether there was more of the body than is kept.
        body_cut: bool,
        /// Whether the token stood somewhere in the path, a header's value kept here or the body. It is replaced by
        /// `[token]` there.
        token_removed: bool,
    },
    /// An exchange ended.
    Ended {
        /// The exchange.
        id: u64,
        /// When; for an answer, before its first byte was written.
        at: u64,
        /// How.
        how: Ending,
        /// Whether OpenRig's store took the post in. Such a post may still count for nothing in the seat's reading.
        recorded: bool,
    },
    /// A connection was reset as soon as it was accepted ([`Fault::Reset`](super::Fault::Reset)). Its client may
    /// have sent a request that nobody read.
    ConnectionReset {
        /// When.
        at: u64,
    },
    /// A connection was closed that had brought bytes, but no whole head of an HTTP/1 request. The HTTP server may have
    /// answered it 400 or 431.
    NoRequest {
        /// When.
        at: u64,
    },
    /// A limit was reached: from now on requests are only counted. Reported when that begins and, if more came,
    /// when the endpoint is dropped.
    Flooded {
        /// When the newest of them came.
        at: u64,
        /// How many requests and events of connections were not reported so far.
        count: u64,
    },
}

/// How a request proved that it may post.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authorization {
    /// `Authorization: Bearer` with the token.
    Right,
    /// The token in OpenRig's own header, `x-openrig-activity-token`, and no right bearer.
    OtherHeader,
    /// One of the two headers, without the token.
    Wrong,
    /// Neither header.
    Absent,
}

/// How an exchange ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It was answered.
    Answered {
        /// The HTTP status.
        status: u16,
    },
    /// The connection was closed in the middle of the answer.
    AnswerCut,
    /// The client went away before the answer.
    GivenUp,
    /// It had no answer when the fault was switched or the endpoint dropped, which closed its connection.
    Hung,
    /// It had no answer when the endpoint reset its connection.
    Reset,
}
