//! What the stamps say about order.

use fake_openrig::endpoint::{Ending, Fault};

use crate::client::Client;
use crate::seat::{Seat, body, post};

#[tokio::test]
async fn a_request_that_was_given_up_ends_before_the_next_starts() {
    let mut seat = Seat::start();
    seat.endpoint.set(Fault::Hang).unwrap();
    let mut previous = Client::connect(seat.port()).await.unwrap();
    previous.send(&post(&body(1))).await.unwrap();
    let mut previous_start = seat.started().await;
    for sequence in 2..=50 {
        // The next connection is waiting already, so that its request can be read before the end of the other.
        let mut next = Client::connect(seat.port()).await.unwrap();
        drop(previous);
        next.send(&post(&body(sequence))).await.unwrap();
        let end = seat.ended().await;
        let start = seat.started().await;
        assert_eq!((end.id, end.how), (previous_start.id, Ending::GivenUp));
        assert!(end.at <= start.at);
        (previous, previous_start) = (next, start);
    }
}

#[tokio::test]
async fn requests_that_overlap_are_seen_to_overlap() {
    let mut seat = Seat::start();
    seat.endpoint.set(Fault::Hang).unwrap();
    let mut one = Client::connect(seat.port()).await.unwrap();
    one.send(&post(&body(1))).await.unwrap();
    let first = seat.started().await;
    let mut two = Client::connect(seat.port()).await.unwrap();
    two.send(&post(&body(2))).await.unwrap();
    let second = seat.started().await;
    drop(one);
    let end = seat.ended().await;
    assert_eq!(end.id, first.id);
    assert!(second.at < end.at);
}

#[tokio::test]
async fn a_client_that_leaves_in_the_middle_of_a_body() {
    let mut seat = Seat::start();
    let mut client = Client::connect(seat.port()).await.unwrap();
    let request = post(&body(1));
    client.send(&request[..request.len() - 5]).await.unwrap();
    drop(client);
    let (start, end) = seat.exchange().await;
    assert_eq!(
        (start.body_at, start.body.as_slice()),
        (None, &body(1).as_bytes()[..body(1).len() - 5])
    );
    assert_eq!((end.how, end.recorded), (Ending::GivenUp, false));
}

#[tokio::test]
async fn a_body_that_is_broken_is_refused() {
    let mut seat = Seat::start();
    let mut client = Client::connect(seat.port()).await.unwrap();
    let head = "POST /api/activity/hooks HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n";
    let response = client
        .ask(format!("{head}no number\r\n").as_bytes())
        .await
        .unwrap();
    assert_eq!(response.status, 401);
    assert_eq!(seat.exchange().await.1.how, Ending::Answered { status: 401 });
}
