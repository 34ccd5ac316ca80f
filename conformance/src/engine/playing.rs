//! A seat that is played by hand: the same room, supervisor, shims and recorder as in a run, but what is done comes from
//! a person's keys and from the seat's board.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fake_agent::control::Order;
use fake_openrig::board::{Board, Press};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

use super::board_feed::BoardFeed;
use super::by_hand::ByHand;
use super::driver::{Driver, Ending, Hurry, Shared};
use super::keys::Key;
use super::lanes::order;
use super::run::SeatRun;
use super::setup::Setup;
use super::waiting::AFTER_THE_END;
use crate::history::Fact;
use crate::scenario::{self, Launch, Resume, Scenario};
use crate::seat::clock;
use crate::seat::input::Input;

/// With nothing due, how long the seat is left to itself before it is looked at again.
const AT_LEISURE: Duration = Duration::from_secs(60);

/// What a person's terminal brings.
#[derive(Debug)]
pub enum Hand {
    /// Keys.
    Keys(Vec<Key>),
    /// It has another size: rows and columns.
    Resized((u16, u16)),
}

/// Whether the person stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stay {
    /// So far.
    On,
    /// No: the seat is stopped as OpenRig stops one.
    Leave,
    /// No, and nothing is waited for.
    LeaveAtOnce,
}

/// Everything that playing needs.
pub struct Play {
    /// The runner.
    pub setup: Setup,
    /// Its agents' scripts. Steps are not done.
    pub scenario: Scenario,
    /// How it is launched.
    pub launch: Launch,
    /// Shows the seat.
    pub board: Arc<Board>,
    /// What is pressed on the board.
    pub pressed: mpsc::Receiver<Press>,
    /// What the terminal brings.
    pub hands: mpsc::Receiver<Hand>,
    /// Where the pane's bytes go.
    pub screen: mpsc::Sender<Vec<u8>>,
    /// Whether the person stays.
    pub stay: watch::Receiver<Stay>,
}

/// Plays until the person leaves; then the seat is stopped.
pub async fn play(play: Play) -> SeatRun {
    let began = Instant::now();
    let mut run = SeatRun {
        index: 0,
        scenario: play.scenario.id.clone(),
        history: None,
        fault: None,
        completed: false,
        cut_off: false,
        took: Duration::ZERO,
    };
    match Box::pin(played(play)).await {
        Ok((history, ending)) => {
            run.history = Some(history);
            run.completed = ending == Ending::Completed;
            run.cut_off = matches!(ending, Ending::Hurried(_));
            if let Ending::Fault(fault) = ending {
                run.fault = Some(fault);
            }
        }
        Err(error) => run.fault = Some(format!("the seat could not be made: {error}")),
    }
    run.took = began.elapsed();
    run
}

async fn played(play: Play) -> io::Result<(crate::history::History, Ending)> {
    let Play {
        setup,
        scenario,
        launch,
        board,
        pressed,
        hands,
        screen,
        stay,
    } = play;
    let shared = Shared::new()?;
    let (hurry_now, hurry) = watch::channel(None);
    let mut at_once = stay.clone();
    let hurrying = tokio::spawn(async move {
        if at_once.wait_for(|stay| *stay == Stay::LeaveAtOnce).await.is_ok() {
            hurry_now.send_replace(Some(Hurry::Interrupted));
        }
        // The receivers must not take the sender's end for an answer.
        std::future::pending::<()>().await;
    });
    let any_agent = Arc::new(AtomicBool::new(false));
    let mut driver = Driver::new(&scenario, &setup, &shared, hurry, any_agent, None)?;
    driver.feed = Some(BoardFeed::new(board));
    driver.mirror = Some(screen.clone());
    let mut player = Player {
        launch,
        size: setup.size,
        pressed,
        hands,
        screen,
        stay,
        by_hand: ByHand::default(),
        end_told: false,
    };
    let ending = player
        .play(&mut driver)
        .await
        .unwrap_or_else(|error| Ending::Fault(error.to_string()));
    player.say("stopping the seat; Ctrl-] again kills it");
    let (history, ending, _) = driver.finish(ending).await;
    hurrying.abort();
    Ok((history, ending))
}

/// The person, as the engine knows them.
struct Player {
    launch: Launch,
    size: (u16, u16),
    pressed: mpsc::Receiver<Press>,
    hands: mpsc::Receiver<Hand>,
    screen: mpsc::Sender<Vec<u8>>,
    stay: watch::Receiver<Stay>,
    by_hand: ByHand,
    /// The person knows that the runner has ended.
    end_told: bool,
}

impl Player {
    async fn play(&mut self, driver: &mut Driver<'_>) -> io::Result<Ending> {
        let launch = self.launch.clone();
        self.begin(driver, &launch).await?;
        let (mut stay, mut stay_meanwhile) = (self.stay.clone(), self.stay.clone());
        loop {
            if driver.fault.is_some() || *stay.borrow() != Stay::On {
                return Ok(Ending::Completed);
            }
            if driver.observed.runner_ended() && !self.end_told {
                self.end_told = true;
                // What it wrote last may still be on its way to this terminal.
                driver.pass(AFTER_THE_END).await;
                self.say("the runner has ended: Enter launches again, r resumes the last conversation, Ctrl-] leaves");
            }
            let deadline = deadline(driver);
            tokio::select! {
                biased;
                // An error means that nobody is left to stay.
                _ = stay.wait_for(|stay| *stay != Stay::On) => return Ok(Ending::Completed),
                Some(hand) = self.hands.recv() => self.hand(driver, hand).await?,
                Some(press) = self.pressed.recv() => {
                    tokio::select! {
                        biased;
                        _ = stay_meanwhile.wait_for(|stay| *stay != Stay::On) => return Ok(Ending::Completed),
                        done = self.press(driver, press) => done?,
                    }
                }
                _ = driver.pump(deadline) => {}
            }
            if let Some(feed) = &mut driver.feed {
                feed.tick(&driver.observed.screen);
            }
        }
    }

    async fn begin(&mut self, driver: &mut Driver<'_>, launch: &Launch) -> io::Result<()> {
        self.by_hand = ByHand::default();
        self.end_told = false;
        driver.begin_launch(launch).await?;
        if self.size != driver.setup.size {
            driver.resize(self.size).await?;
        }
        Ok(())
    }

    async fn begin_again(&mut self, driver: &mut Driver<'_>, resume: bool) -> io::Result<()> {
        let mut launch = self.launch.clone();
        if resume && driver.conversation.is_some() {
            launch.resume = Some(Resume::Last);
        }
        self.begin(driver, &launch).await
    }

    async fn hand(&mut self, driver: &mut Driver<'_>, hand: Hand) -> io::Result<()> {
        match hand {
            Hand::Resized(size) => {
                self.size = size;
                driver.resize(size).await
            }
            Hand::Keys(keys) if driver.observed.runner_ended() => {
                for key in keys {
                    match key {
                        Key::Enter => return self.begin_again(driver, false).await,
                        Key::Text(text) if text == b"r" => return self.begin_again(driver, true).await,
                        _ => {}
                    }
                }
                Ok(())
            }
            Hand::Keys(keys) => {
                let mut bytes = Vec::new();
                for key in keys {
                    let steps = self.by_hand.take(&key, clock::now(), &mut driver.blocks);
                    driver.record_steps(steps);
                    bytes.extend_from_slice(key.bytes());
                }
                if !bytes.is_empty() {
                    // Nobody waits for a person's keys; a seat that is being stopped takes none.
                    let _ = driver.put_at_leisure(Input::Bytes(bytes));
                }
                Ok(())
            }
        }
    }

    async fn press(&mut self, driver: &mut Driver<'_>, press: Press) -> io::Result<()> {
        if matches!(press, Press::Send(_) | Press::SendRaw(_) | Press::Interrupt) {
            let steps = self.by_hand.give_up();
            driver.record_steps(steps);
        }
        match press {
            Press::Send(text) => {
                let send = scenario::Send {
                    text,
                    from: "dev-lead@rig".into(),
                    verify: false,
                };
                driver.send(&send).await
            }
            Press::SendRaw(text) => driver.send_raw(&text).await,
            Press::Interrupt => driver.interrupt().await,
            Press::ClearAttention => {
                driver.clear_attention();
                Ok(())
            }
            Press::Open(gate) => driver.release(&gate).await,
            Press::Answer { ask, answer } => {
                let Some(feed) = &mut driver.feed else {
                    return Ok(());
                };
                if let Some((connection, told)) = feed.answer(ask, answer)
                    && let Some(agent) = driver.agents.get_mut(&connection)
                {
                    // An agent that is gone is told by its own lane.
                    let _ = order(&mut agent.orders, &Order::Do(told)).await;
                }
                Ok(())
            }
            Press::Launch { resume } => self.begin_again(driver, resume).await,
        }
    }

    /// Says something in the person's terminal, on a line of its own.
    fn say(&self, text: &str) {
        // A terminal that takes nothing any more can't be told anything.
        let _ = self
            .screen
            .try_send(format!("\r\n\x1b[0m[{text}]\r\n").into_bytes());
    }
}

fn deadline(driver: &Driver<'_>) -> Instant {
    let now = clock::now();
    let due = driver.feed.as_ref().and_then(BoardFeed::due);
    Instant::now() + due.map_or(AT_LEISURE, |at| Duration::from_nanos(at.saturating_sub(now)))
}

impl Driver<'_> {
    fn record_steps(&mut self, steps: Vec<(u64, crate::history::Step)>) {
        for (at, step) in steps {
            self.record_at(self.launch, at, Fact::Step(step));
        }
    }
}
