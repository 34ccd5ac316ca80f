//! fake-openrig
