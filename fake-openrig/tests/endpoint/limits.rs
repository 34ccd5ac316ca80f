//! A client that sends too much.

use fake_openrig::endpoint::{Ending, Exchange, Limits};

use crate::client::Client;
use crate::seat::{Seat, TOKEN, body, post};

#[tokio::test]
async fn a_body_of_20_megabytes_is_cut() {
    let mut seat = Seat::start();
    let mut client = Client::connect(seat.port()).await.unwrap();
    let long = format!(r#"{{"nodeId": "n1", "more": "{}"}}"#, "x".repeat(20_000_000));
    assert_eq!(client.ask(&post(&long)).await.unwrap().status, 413);
    let (start, end) = seat.exchange().await;
    assert!(start.body_cut);
    assert_eq!(start.body, long.as_bytes()[..Limits::default().body]);
    assert_eq!((end.how, end.recorded), (Ending::Answered { status: 413 }, false));
    // The connection is still good.
    assert_eq!(client.ask(&post(&body(1))).await.unwrap().status, 200);
}

#[tokio::test]
async fn a_token_across_the_cut_is_out_too() {
    let mut seat = Seat::with(Limits {
        body: 100,
        ..Limits::default()
    });
    let mut client = Client::connect(seat.port()).await.unwrap();
    let long = format!("{}{TOKEN}{}", "x".repeat(90), "x".repeat(1000));
    assert_eq!(client.ask(&post(&long)).await.unwrap().status, 413);
    let (start, _) = seat.exchange().await;
    assert!(start.token_removed);
    assert_eq!(start.body, format!("{}[token]", "x".repeat(90)).into_bytes());
}

#[tokio::test]
async fn a_body_up_to_the_limit_is_whole() {
    let mut seat = Seat::with(Limits {
        body: body(1).len(),
        ..Limits::default()
    });
    let mut client = Client::connect(seat.port()).await.unwrap();
    assert_eq!(client.ask(&post(&body(1))).await.unwrap().status, 200);
    let (start, _) = seat.exchange().await;
    assert_eq!((start.body, start.body_cut), (body(1).into_bytes(), false));
}

/// Posts five times where two may be reported.
async fn flood(limits: Limits) {
    let mut seat = Seat::with(limits);
    let mut client = Client::connect(seat.port()).await.unwrap();
    let mut statuses = Vec::new();
    for sequence in 1..=5 {
        statuses.push(client.ask(&post(&body(sequence))).await.unwrap().status);
    }
    assert_eq!(statuses, [200, 200, 503, 503, 503]);
    for _ in 0..2 {
        seat.exchange().await;
    }
    assert!(matches!(seat.event().await, Exchange::Flooded { count: 1, .. }));
    let Seat { endpoint, mut events } = seat;
    drop(endpoint);
    assert!(matches!(
        events.recv().await,
        Some(Exchange::Flooded { count: 3, .. })
    ));
    assert_eq!(events.recv().await, None);
}

#[tokio::test]
async fn after_so_many_exchanges_they_are_only_counted() {
    flood(Limits {
        exchanges: 2,
        ..Limits::default()
    })
    .await;
}

#[tokio::test]
async fn after_so_many_bytes_they_are_only_counted() {
    flood(Limits {
        bytes: body(1).len() + 100,
        ..Limits::default()
    })
    .await;
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_for_their_turn() {
    let mut seat = Seat::with(Limits {
        connections: 1,
        ..Limits::default()
    });
    let mut first = Client::connect(seat.port()).await.unwrap();
    first.ask(&post(&body(1))).await.unwrap();
    let mut second = Client::connect(seat.port()).await.unwrap();
    second.send(&post(&body(2))).await.unwrap();
    assert_eq!(first.ask(&post(&body(3))).await.unwrap().status, 200);
    drop(first);
    assert_eq!(second.response().await.unwrap().status, 200);
    let bodies = [
        seat.exchange().await.0.body,
        seat.exchange().await.0.body,
        seat.exchange().await.0.body,
    ];
    assert_eq!(bodies, [body(1), body(3), body(2)].map(String::into_bytes));
}
