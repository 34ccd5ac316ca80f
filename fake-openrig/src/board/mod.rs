//! The seat board: a page in the browser that shows a seat live, with buttons for what its host can do.
//!
//! A host tells the board what happens ([`BoardEvent`]) and gets what people press ([`Press`]). The board keeps a
//! bounded picture of the seat ([`BoardState`]), so that a page opened late, or one that fell behind, sees all that
//! counts. [`Observer`] makes the events from what comes in from a seat.
//!
//! Who may press: whoever has the page's address. It holds a random key, the server listens on 127.0.0.1 alone, and
//! requests that another web page could have made are refused (see `server`).

mod event;
mod observer;
mod server;
mod shown;
mod state;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::{Semaphore, broadcast, mpsc};
use tokio::task::JoinHandle;

pub use event::{
    Answer, AskShown, BoardEvent, Control, LineShown, PostShown, Press, ReadingShown, RecordShown, SeatShown,
    Way,
};
pub use observer::{Observer, Watched};
pub use shown::shown;
pub use state::BoardState;

use crate::{Error, Result, random};

/// How many events a page may be behind before it gets the whole picture anew.
const BEHIND: usize = 512;

/// How many pages may be open at a time.
const PAGES: usize = 16;

/// How long pages have to hear that the seat is gone.
const LAST_WORD: Duration = Duration::from_secs(1);

/// How many presses may wait for their host. Further ones are refused.
const PRESSES: usize = 64;

/// A board that is being served. Dropping it takes no further pages; [`Board::close`] tells those that are open.
#[derive(Debug)]
pub struct Board {
    picture: Arc<Picture>,
    pages: Arc<Semaphore>,
    address: String,
    serving: JoinHandle<()>,
}

/// The seat as it is now, and what tells pages of changes.
#[derive(Debug)]
struct Picture {
    state: Mutex<BoardState>,
    changes: broadcast::Sender<Change>,
}

/// A change as pages are told it.
#[derive(Debug, Clone)]
struct Change {
    text: Arc<str>,
    /// Nothing comes after it.
    last: bool,
}

impl Board {
    /// Serves a board with these controls on a free port of 127.0.0.1, and hands over what people press.
    ///
    /// # Errors
    /// [`Error::Random`] if there is no key to be had; [`Error::Socket`] if there is no port.
    pub async fn start(controls: Vec<Control>) -> Result<(Self, mpsc::Receiver<Press>)> {
        let key = random::hex_64()?;
        let socket = |action| move |source| Error::Socket { action, source };
        let listener = TcpListener::bind(("127.0.0.1", 0))
            .await
            .map_err(socket("bind a port for the board"))?;
        let port = listener
            .local_addr()
            .map_err(socket("bind a port for the board"))?
            .port();
        let picture = Arc::new(Picture {
            state: Mutex::new(BoardState::new(controls)),
            changes: broadcast::channel(BEHIND).0,
        });
        let (presses, pressed) = mpsc::channel(PRESSES);
        let address = format!("http://127.0.0.1:{port}/{key}/");
        let pages = Arc::new(Semaphore::new(PAGES));
        let service = server::service(picture.clone(), pages.clone(), &key, port, presses);
        let serving = tokio::spawn(async move {
            // It ends only by being aborted.
            let _ = axum::serve(listener, service).await;
        });
        Ok((
            Self {
                picture,
                pages,
                address,
                serving,
            },
            pressed,
        ))
    }

    /// The page's address, with its key.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Says that the seat is gone, and waits a moment for the pages that are open to hear it.
    pub async fn close(&self, how: &str) {
        self.tell(BoardEvent::Over(how.to_owned()));
        self.serving.abort();
        // A page that takes nothing holds nobody up.
        let _ = tokio::time::timeout(LAST_WORD, self.pages.acquire_many(PAGES as u32)).await;
    }

    /// Shows what happened, on every page that is open and on those to come.
    pub fn tell(&self, event: BoardEvent) {
        // Events hold texts and numbers: they can always be written.
        let Ok(text) = serde_json::to_string(&event) else {
            return;
        };
        let change = Change {
            text: text.into(),
            last: matches!(event, BoardEvent::Over(_)),
        };
        let mut state = self.picture.state();
        state.apply(event);
        // Nobody may be looking.
        let _ = self.picture.changes.send(change);
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Picture {
    fn state(&self) -> MutexGuard<'_, BoardState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The whole picture, and the changes from exactly there on.
    fn look(&self) -> (Change, broadcast::Receiver<Change>) {
        let state = self.state();
        let changes = self.changes.subscribe();
        let whole = Change {
            text: serde_json::json!({ "whole": &*state }).to_string().into(),
            last: state.is_over(),
        };
        (whole, changes)
    }
}
