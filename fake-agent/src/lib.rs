//! fake-agent
