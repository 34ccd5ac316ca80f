//! Reading standard input in a thread that may block.

use std::io::{self, Read};
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::{Errno, retry_on_intr};

/// Standard input, read without a buffer of the standard library's.
pub(crate) struct Input(OwnedFd);

impl Input {
    pub(crate) fn open() -> io::Result<Self> {
        Ok(Self(rustix::io::fcntl_dupfd_cloexec(io::stdin(), 3)?))
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match retry_on_intr(|| rustix::io::read(&self.0, &mut *buffer)) {
                // It may come non-blocking from the runner, or be the same socket as standard output.
                Err(Errno::AGAIN) => {
                    retry_on_intr(|| poll(&mut [PollFd::new(&self.0, PollFlags::IN)], None))?;
                }
                read => return Ok(read?),
            }
        }
    }
}
