//! reference-runner
