//! What flows from a seat to its driver: every source is a task that stamps what it sees and sends it on.

use std::io;
use std::path::Path;
use std::sync::Arc;

use fake_agent::control;
use fake_openrig::endpoint::Exchange;
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::{AbortHandle, JoinSet};

use super::control_lines::{self, LONGEST, Line};
pub(crate) use super::waiting_room::{Receiver, Sender, WAITING, channel};
use crate::history::{Lane, RecordFact};
use crate::seat::clock;
use crate::seat::connection::{Reader, Writer};
use crate::seat::input::Input;
use crate::seat::record_watch::{RecordWatch, Seen as SeenRecord};
use crate::seat::supervisor::{self, SupervisorFact};

/// Something seen, when, and of which launch: what arrives late must not be taken for the next launch's.
#[derive(Debug)]
pub(crate) struct Observation {
    pub(crate) at: u64,
    /// `None` where only the driver can tell.
    pub(crate) launch: Option<u32>,
    pub(crate) what: Seen,
}

#[derive(Debug)]
pub(crate) enum Seen {
    Output(Vec<u8>),
    PaneClosed,
    /// The supervisor connected; orders go to it through this.
    SupervisorCame(OwnedWriteHalf),
    Supervisor(SupervisorFact),
    SupervisorGone,
    /// An agent connected; it waits for its script.
    AgentCame {
        agent: u64,
        hello: Box<control::Hello>,
        orders: OwnedWriteHalf,
    },
    Agent {
        agent: u64,
        fact: control::Fact,
    },
    AgentGone {
        agent: u64,
    },
    Exchange(Exchange),
    Record(RecordFact),
    /// More came in this lane than could be taken.
    TooMuch {
        lane: Lane,
    },
}

/// Writes that may wait for a seat that takes none.
const WRITES: usize = 64;

/// Programs that may speak on a seat's socket at a time; more wait until one of them ends.
const CONNECTIONS: usize = 256;

/// The tasks of a seat or of a launch; dropping it ends them.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    tasks: JoinSet<()>,
}

impl Tasks {
    /// Reads what the seat writes until its end. It also goes to a `mirror`, where there is one: a mirror that is full
    /// holds the seat up, as a terminal does that somebody has stopped.
    pub(crate) fn read_seat(
        &mut self,
        launch: u32,
        mut reader: Reader,
        to: Sender,
        mirror: Option<mpsc::Sender<Vec<u8>>>,
    ) {
        self.tasks.spawn(async move {
            let mut buffer = vec![0; 64 << 10];
            loop {
                let what = match reader.read(&mut buffer).await {
                    Ok(0) | Err(_) => Seen::PaneClosed,
                    Ok(length) => Seen::Output(buffer[..length].to_vec()),
                };
                let mirrored = match (&what, &mirror) {
                    (Seen::Output(bytes), Some(_)) => Some(bytes.clone()),
                    _ => None,
                };
                let over = matches!(what, Seen::PaneClosed);
                if to
                    .send(Observation {
                        at: clock::now(),
                        launch: Some(launch),
                        what,
                    })
                    .await
                    .is_err()
                    || over
                {
                    return;
                }
                if let (Some(bytes), Some(mirror)) = (mirrored, &mirror) {
                    // A mirror that is gone is nobody's loss.
                    let _ = mirror.send(bytes).await;
                }
            }
        });
    }

    /// Puts into the seat what comes through the channel, and says when that is done.
    pub(crate) fn write_seat(&mut self, mut writer: Writer) -> mpsc::Sender<Written> {
        let (sender, mut receiver) = mpsc::channel::<Written>(WRITES);
        self.tasks.spawn(async move {
            while let Some(write) = receiver.recv().await {
                let result = writer.put(&write.input).await;
                // Nobody waits any more when the seat is being stopped.
                let _ = write.done.send(result);
            }
        });
        sender
    }

    /// Tells every change of the launch record.
    pub(crate) fn watch_record(&mut self, launch: u32, mut watch: RecordWatch, to: Sender) {
        self.tasks.spawn(async move {
            while let Some((at, seen)) = watch.next().await {
                let observation = Observation {
                    at,
                    launch: Some(launch),
                    what: match seen {
                        SeenRecord::Change(fact) => Seen::Record(fact),
                        SeenRecord::TooMuch => Seen::TooMuch { lane: Lane::Record },
                    },
                };
                if to.send(observation).await.is_err() {
                    return;
                }
            }
        });
    }

    /// Passes the endpoint's events on. Their channel has no bound of its own: the endpoint's limits are one.
    pub(crate) fn pass_exchanges(&mut self, mut exchanges: mpsc::UnboundedReceiver<Exchange>, to: Sender) {
        self.tasks.spawn(async move {
            while let Some(exchange) = exchanges.recv().await {
                let at = match exchange {
                    Exchange::Started { at, .. }
                    | Exchange::Ended { at, .. }
                    | Exchange::ConnectionReset { at }
                    | Exchange::NoRequest { at, .. }
                    | Exchange::Flooded { at, .. } => at,
                };
                if to
                    .send(Observation {
                        at,
                        launch: None,
                        what: Seen::Exchange(exchange),
                    })
                    .await
                    .is_err()
                {
                    return;
                }
            }
        });
    }

    /// Takes connections of the supervisor and of agents.
    pub(crate) fn listen(&mut self, socket: &Path, to: Sender) -> io::Result<AbortHandle> {
        let listener = UnixListener::bind(socket)?;
        Ok(self.tasks.spawn(async move {
            let mut connections = JoinSet::new();
            let places = Arc::new(Semaphore::new(CONNECTIONS));
            let mut agents = 0;
            // The semaphore is never closed.
            while let Ok(place) = places.clone().acquire_owned().await
                && let Ok((stream, _)) = listener.accept().await
            {
                agents += 1;
                let to = to.clone();
                connections.spawn(async move {
                    // A connection that says nothing sensible is none of ours.
                    let _ = serve(stream, agents, to).await;
                    drop(place);
                });
                while connections.try_join_next().is_some() {}
            }
        }))
    }
}

/// Something to be put into the seat.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) input: Input,
    pub(crate) done: oneshot::Sender<io::Result<()>>,
}

/// The first line on a connection.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum First {
    Supervisor(supervisor::Report),
    Agent(control::Report),
}

async fn serve(stream: UnixStream, number: u64, to: Sender) -> io::Result<()> {
    let (reader, orders) = stream.into_split();
    let mut lines = BufReader::with_capacity(64 << 10, reader);
    let mut line = Vec::new();
    let report = match control_lines::next::<First>(&mut lines, &mut line, LONGEST).await {
        Line::Report(First::Supervisor(report)) => {
            let SupervisorFact::Supervising { launch } = report.fact else {
                return Ok(());
            };
            send(&to, report.at, launch, Seen::SupervisorCame(orders)).await?;
            return serve_supervisor(lines, launch, to).await;
        }
        Line::Report(First::Agent(report)) => report,
        Line::TooLong | Line::End => return Ok(()),
    };
    let control::Fact::Hello(hello) = report.fact else {
        return Ok(());
    };
    // The shim's label is the launch.
    let Some(launch) = hello.label.as_deref().and_then(|label| label.parse().ok()) else {
        return Ok(());
    };
    send(
        &to,
        report.at,
        launch,
        Seen::AgentCame {
            agent: number,
            hello,
            orders,
        },
    )
    .await?;
    serve_agent(lines, number, launch, to).await
}

async fn serve_supervisor(mut lines: BufReader<OwnedReadHalf>, launch: u32, to: Sender) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        // A supervisor that was killed may leave half a line: it is gone all the same.
        match control_lines::next::<supervisor::Report>(&mut lines, &mut line, LONGEST).await {
            Line::Report(report) => send(&to, report.at, launch, Seen::Supervisor(report.fact)).await?,
            Line::TooLong | Line::End => {
                return send(&to, clock::now(), launch, Seen::SupervisorGone).await;
            }
        }
    }
}

async fn serve_agent(
    mut lines: BufReader<OwnedReadHalf>,
    agent: u64,
    launch: u32,
    to: Sender,
) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        match control_lines::next::<control::Report>(&mut lines, &mut line, LONGEST).await {
            Line::Report(report) => {
                let fact = report.fact;
                send(&to, report.at, launch, Seen::Agent { agent, fact }).await?;
            }
            Line::TooLong => {
                send(&to, clock::now(), launch, Seen::TooMuch { lane: Lane::Wire }).await?;
            }
            Line::End => return send(&to, clock::now(), launch, Seen::AgentGone { agent }).await,
        }
    }
}

async fn send(to: &Sender, at: u64, launch: u32, what: Seen) -> io::Result<()> {
    let observation = Observation {
        at,
        launch: Some(launch),
        what,
    };
    to.send(observation)
        .await
        .map_err(|_| io::ErrorKind::BrokenPipe.into())
}

/// Sends one order as a JSON line; a peer that is gone is noticed by its own lane.
pub(crate) async fn order(to: &mut OwnedWriteHalf, order: &impl serde::Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(order)?;
    line.push(b'\n');
    to.write_all(&line).await
}
