//! Launches a seat: what OpenRig prepares, the terminal, the supervisor, the runner.

use fake_openrig::launch as openrig;
use std::io;
use tokio::process::{Child, Command};
use tokio::sync::mpsc;

use super::driver::{Driver, Running};
use super::lanes::{Tasks, Written, order};
use super::observed::Observed;
use crate::history::{Fact, Launched, RecordChange, RecordFact, Step};
use crate::scenario::{EndpointTold, Launch, Resume, Transport};
use crate::seat::clock;
use crate::seat::connection::{Connection, Opened};
use crate::seat::supervisor::{Order, Start};

impl Driver<'_> {
    /// Launches the seat and returns when the runner was started or could not be.
    pub(super) async fn launch(&mut self, launch: &Launch) -> io::Result<()> {
        self.launch += 1;
        self.launch_began = clock::now();
        let number = self.launch;
        let facts = self.prepare(launch).map_err(io::Error::other)?;
        self.observed = Observed::new(self.setup.size, &self.setup.name);
        self.reading = Some(fake_openrig::reading::SeatReading::new((&facts).into()));
        if let Some(feed) = &mut self.feed {
            feed.launched(&facts, &self.setup.runner.shown());
        }
        self.script = self.scenario.script(launch.agent.as_deref()).clone();

        let mut tasks = Tasks::default();
        if let Some(path) = &facts.record_path {
            if launch.stale_record {
                self.leave_stale_record(&facts, path)?;
            }
            tasks.watch_record(number, self.records.watch(path)?, self.sender.clone());
        }
        self.room
            .write_shims(&self.setup.agent_names, &self.setup.seatcheck, number)?;
        let agent = self.room.shim(&self.setup.agent_names[0]);
        let command = self.setup.runner.words(&agent);
        self.record(Fact::Step(Step::Launched(Box::new(
            self.told(launch, &facts, &command),
        ))));

        let opened = match self.transport {
            Transport::Pty => Opened::terminal(self.setup.size)?,
            Transport::Pipe => Opened::pipes()?,
            Transport::Tmux => return Err(io::Error::other("there is no tmux yet")),
        };
        let [input, output, errors] = opened.standard;
        let supervisor = Command::new(&self.setup.seatcheck)
            .arg(crate::hidden::SUPERVISOR)
            .arg(self.room.run_folder())
            .arg(self.room.socket())
            .arg(number.to_string())
            .arg(self.transport.as_str())
            .stdin(input)
            .stdout(output)
            .stderr(errors)
            .kill_on_drop(true)
            .spawn()?;
        tasks.read_seat(number, opened.reader, self.sender.clone(), self.mirror.clone());
        let mut writing = Tasks::default();
        let writer = writing.write_seat(opened.writer);
        self.running = Some(Running::new(
            opened.connection,
            writer,
            writing,
            supervisor,
            tasks,
        ));

        let start = Start {
            command,
            environment: self.environment(launch, &facts),
            directory: self.room.work(),
        };
        self.wait_for_supervisor().await?;
        if let Some(running) = &mut self.running
            && let Some(orders) = &mut running.orders
        {
            order(orders, &Order::Start(Box::new(start))).await?;
        }
        self.wait_for_start().await
    }

    /// What OpenRig makes before a launch. The seat keeps its names and its token; attempt and generation are new.
    fn prepare(&mut self, launch: &Launch) -> fake_openrig::Result<openrig::Launch> {
        let mut facts = openrig::Launch::new(
            self.room.openrig_home(),
            &self.identity.session_name,
            &self.setup.name,
        )?;
        facts.node_id.clone_from(&self.identity.node_id);
        facts.token = self.identity.token.clone();
        facts.endpoint = told(launch.endpoint);
        facts.model.clone_from(&launch.model);
        facts.resume_ref = match &launch.resume {
            None => None,
            Some(Resume::Reference(reference)) => Some(reference.clone()),
            Some(Resume::Last) => Some(self.conversation.clone().unwrap_or_default()),
        };
        facts.prepare(self.endpoint.port())?;
        if launch.without_record {
            facts.record_path = None;
        }
        if let Some(text) = &launch.first_input {
            let path = facts.openrig_home.join("first-input.txt");
            std::fs::write(&path, text).map_err(|source| fake_openrig::Error::Write {
                path: path.clone(),
                source,
            })?;
            facts.first_input = Some(path);
        }
        Ok(facts)
    }

    fn leave_stale_record(&mut self, facts: &openrig::Launch, path: &std::path::Path) -> io::Result<()> {
        let stale = serde_json::json!({
            "format": 1, "attempt": "an-earlier-attempt", "harness": facts.runtime,
            "nativeRef": "an-earlier-conversation", "producer": "an earlier runner 1.0",
        })
        .to_string();
        std::fs::write(path, &stale)?;
        let stood = RecordFact {
            change: RecordChange::Stood,
            content: Some(stale.as_str().into()),
            note: None,
        };
        self.record(Fact::Record(stood));
        Ok(())
    }

    fn told(&self, launch: &Launch, facts: &openrig::Launch, command: &[String]) -> Launched {
        Launched {
            attempt: facts.attempt.clone(),
            generation: facts.generation.clone(),
            session_name: facts.session_name.clone(),
            node_id: facts.node_id.clone(),
            runtime: facts.runtime.clone(),
            record_path_given: facts.record_path.is_some(),
            stale_record: launch.stale_record,
            resume_ref: facts.resume_ref.clone(),
            endpoint_told: launch.endpoint.as_str().into(),
            first_input: launch.first_input.clone(),
            model: facts.model.clone(),
            command: command.to_vec(),
            agent_names: self.setup.agent_names.clone(),
            transport: self.transport.as_str().into(),
            size: self.setup.size,
        }
    }

    /// The seat's whole environment: nothing of the caller's but PATH and what was asked for.
    fn environment(&self, launch: &Launch, facts: &openrig::Launch) -> Vec<(String, String)> {
        let text = |path: std::path::PathBuf| path.to_string_lossy().into_owned();
        let path = std::env::var("PATH").unwrap_or_else(|_| "/usr/local/bin:/usr/bin:/bin".into());
        let mut variables = vec![
            ("PATH".to_owned(), format!("{}:{path}", text(self.room.shims()))),
            ("HOME".to_owned(), text(self.room.home())),
            ("TMPDIR".to_owned(), text(self.room.temporary())),
            ("TERM".to_owned(), "xterm-256color".to_owned()),
            ("LANG".to_owned(), "C.UTF-8".to_owned()),
            ("SHELL".to_owned(), "/bin/sh".to_owned()),
        ];
        for name in ["USER", "LOGNAME"] {
            variables.extend(std::env::var(name).map(|value| (name.to_owned(), value)));
        }
        let agent = text(self.room.shim(&self.setup.agent_names[0]));
        variables.extend(
            self.setup
                .environment
                .iter()
                .map(|(name, value)| (name.clone(), value.replace("{agent}", &agent))),
        );
        variables.extend(
            launch
                .environment
                .iter()
                .map(|(name, value)| (name.clone(), value.clone())),
        );
        variables.extend(facts.environment(self.endpoint.port()));
        variables
    }
}

impl Running {
    fn new(
        connection: Connection,
        writer: mpsc::UnboundedSender<Written>,
        writing: Tasks,
        supervisor: Child,
        tasks: Tasks,
    ) -> Self {
        Self {
            connection: Some(connection),
            writer: Some(writer),
            writing,
            supervisor,
            orders: None,
            started: false,
            empty: false,
            left: None,
            apart: Vec::new(),
            pane_closed: false,
            keeps_hangup: false,
            ended: false,
            tasks,
        }
    }
}

fn told(endpoint: EndpointTold) -> openrig::EndpointTold {
    match endpoint {
        EndpointTold::All => openrig::EndpointTold::Url {
            trailing_slash: false,
        },
        EndpointTold::Url => openrig::EndpointTold::UrlOnly {
            trailing_slash: false,
        },
        EndpointTold::UrlWithSlash => openrig::EndpointTold::UrlOnly { trailing_slash: true },
        EndpointTold::Port => openrig::EndpointTold::PortOnly,
        EndpointTold::HostAndPort => openrig::EndpointTold::HostAndPort,
        EndpointTold::File => openrig::EndpointTold::File,
        EndpointTold::UrlAndTokenFile => openrig::EndpointTold::UrlAndTokenFile,
        EndpointTold::Nothing => openrig::EndpointTold::Nothing,
    }
}
