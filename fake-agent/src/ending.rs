//! Ending the process: every report is out before anything else happens.

use std::os::unix::process::CommandExt as _;
use std::process::{ExitCode, exit};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getpid, kill_process, setrlimit};

use crate::children::Program;
use crate::control::Fact;
use crate::reporter::Reporter;
use crate::script::{Exit, SignalName};

/// Reports the end, waits until all reports are out, and ends the process. `handled` is the signal that the
/// process handles.
pub(crate) fn end(reporter: &Reporter, program: &Program, how: Exit, handled: Option<SignalName>) -> ! {
    reporter.close(Fact::Ending(how));
    let trouble = match how {
        Exit::Code(code) => exit(code.into()),
        Exit::Signal(signal) if handled == Some(signal) || signal == SignalName::Segv => {
            // A handler can't be taken back by safe means, but a program started anew has none, or (see
            // below) one that gives way to a process of one thread.
            let error = program.command(["raise", signal.word()]).exec();
            format!(
                "exit: signal {} is handled, and can't be set free: {error}",
                signal.number()
            )
        }
        Exit::Signal(signal) => {
            raise(signal);
            format!("exit: signal {} is ignored: killed instead", signal.number())
        }
    };
    reporter.close_again(Fact::Trouble { text: trouble });
    raise(SignalName::Kill);
    // Only an init process survives that.
    exit(1)
}

/// Ends this process by a signal. Returns if that is ignored.
pub(crate) fn raise(signal: SignalName) -> ExitCode {
    // A core file would be litter.
    let _ = setrlimit(
        Resource::Core,
        Rlimit {
            current: Some(0),
            maximum: Some(0),
        },
    );
    let _ = kill_process(getpid(), signal.signal());
    // The standard library's handler of SIGSEGV removes itself at the first one, and leaves it at that.
    let _ = kill_process(getpid(), signal.signal());
    // Another thread may be the one to take it, so the end need not come before the call returns.
    std::thread::sleep(Duration::from_secs(1));
    ExitCode::FAILURE
}
