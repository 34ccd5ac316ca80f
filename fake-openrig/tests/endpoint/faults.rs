//! Each fault as a client meets it, and the way back.

use std::io::ErrorKind;
use std::time::Duration;

use fake_openrig::endpoint::{Ending, Exchange, Fault};

use crate::client::Client;
use crate::seat::{Seat, body, post};

async fn connect_error(port: u16) -> ErrorKind {
    match Client::connect(port).await {
        Ok(_) => panic!("connected"),
        Err(error) => error.kind(),
    }
}

#[tokio::test]
async fn refuse_refuses_and_heals_on_the_same_port() {
    let mut seat = Seat::start();
    for sequence in 1..=3 {
        seat.endpoint.set(Fault::Refuse).unwrap();
        assert_eq!(connect_error(seat.port()).await, ErrorKind::ConnectionRefused);
        // The port is still taken.
        assert_eq!(
            std::net::TcpListener::bind(("127.0.0.1", seat.port()))
                .unwrap_err()
                .kind(),
            ErrorKind::AddrInUse
        );
        seat.endpoint.set(Fault::Healthy).unwrap();
        let mut client = Client::connect(seat.port()).await.unwrap();
        assert_eq!(client.ask(&post(&body(sequence))).await.unwrap().status, 200);
        assert_eq!(seat.exchange().await.0.id, sequence);
    }
}

#[tokio::test]
async fn refuse_closes_kept_connections() {
    let seat = Seat::start();
    let mut client = Client::connect(seat.port()).await.unwrap();
    client.ask(&post(&body(1))).await.unwrap();
    seat.endpoint.set(Fault::Refuse).unwrap();
    client.closed().await.unwrap();
}

#[tokio::test]
async fn a_client_that_gives_a_hanging_request_up_is_noticed() {
    let mut seat = Seat::start();
    seat.endpoint.set(Fault::Hang).unwrap();
    let mut client = Client::connect(seat.port()).await.unwrap();
    client.send(&post(&body(1))).await.unwrap();
    let start = seat.started().await;
    assert_eq!(start.body, body(1).into_bytes());
    drop(client);
    let end = seat.ended().await;
    assert_eq!(
        (end.id, end.how, end.recorded),
        (start.id, Ending::GivenUp, false)
    );
}

#[tokio::test]
async fn a_hanging_request_ends_with_the_fault() {
    for next in [Fault::Healthy, Fault::Refuse, Fault::Status(500)] {
        let mut seat = Seat::start();
        seat.endpoint.set(Fault::Hang).unwrap();
        let mut client = Client::connect(seat.port()).await.unwrap();
        client.send(&post(&body(1))).await.unwrap();
        seat.started().await;
        seat.endpoint.set(Fault::Hang).unwrap();
        seat.endpoint.set(next).unwrap();
        client.closed().await.unwrap();
        let end = seat.ended().await;
        assert_eq!((end.how, end.recorded), (Ending::Hung, false), "{next:?}");
    }
}

#[tokio::test]
async fn a_hanging_request_ends_with_the_endpoint() {
    let mut seat = Seat::start();
    seat.endpoint.set(Fault::Hang).unwrap();
    let mut client = Client::connect(seat.port()).await.unwrap();
    client.send(&post(&body(1))).await.unwrap();
    seat.started().await;
    let Seat { endpoint, mut events } = seat;
    drop(endpoint);
    client.closed().await.unwrap();
    assert!(matches!(
        events.recv().await,
        Some(Exchange::Ended {
            how: Ending::Hung,
            ..
        })
    ));
    assert_eq!(events.recv().await, None);
}

#[tokio::test]
async fn a_hang_that_is_lifted_and_set_again_still_ends_the_request() {
    let mut seat = Seat::start();
    seat.endpoint.set(Fault::Hang).unwrap();
    let mut client = Client::connect(seat.port()).await.unwrap();
    client.send(&post(&body(1))).await.unwrap();
    seat.started().await;
    seat.endpoint.set(Fault::Healthy).unwrap();
    seat.endpoint.set(Fault::Hang).unwrap();
    client.closed().await.unwrap();
    assert_eq!(seat.ended().await.how, Ending::Hung);
}

#[tokio::test]
async fn slow_answers_late_and_at_once_when_switched() {
    let mut seat = Seat::start();
    let delay = Duration::from_millis(40);
    seat.endpoint.set(Fault::Slow(delay)).unwrap();
    let mut client = Client::connect(seat.port()).await.unwrap();
    assert_eq!(client.ask(&post(&body(1))).await.unwrap().status, 200);
    let (start, end) = seat.exchange().await;
    assert!(u128::from(end.at - start.at) >= delay.as_nanos());
    assert!(end.recorded);

    seat.endpoint
        .set(Fault::Slow(Duration::from_secs(86_400)))
        .unwrap();
    client.send(&post(&body(2))).await.unwrap();
    seat.started().await;
    seat.endpoint.set(Fault::Healthy).unwrap();
    assert_eq!(client.response().await.unwrap().status, 200);
    assert!(seat.ended().await.recorded);
}

#[tokio::test]
async fn reset_resets_new_connections() {
    let mut seat = Seat::start();
    seat.endpoint.set(Fault::Reset).unwrap();
    // The reset comes as soon as the kernel has connected, or a moment later.
    let outcome = match Client::connect(seat.port()).await {
        Ok(mut client) => client.closed().await,
        Err(error) => Err(error),
    };
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert!(matches!(seat.event().await, Exchange::ConnectionReset { .. }));
    seat.endpoint.set(Fault::Healthy).unwrap();
    let mut client = Client::connect(seat.port()).await.unwrap();
    assert_eq!(client.ask(&post(&body(1))).await.unwrap().status, 200);
}

#[tokio::test]
async fn reset_resets_kept_connections_and_open_requests() {
    let mut seat = Seat::start();
    let mut kept = Client::connect(seat.port()).await.unwrap();
    kept.ask(&post(&body(1))).await.unwrap();
    seat.exchange().await;
    seat.endpoint.set(Fault::Hang).unwrap();
    let mut hanging = Client::connect(seat.port()).await.unwrap();
    hanging.send(&post(&body(2))).await.unwrap();
    seat.started().await;
    seat.endpoint.set(Fault::Reset).unwrap();
    assert_eq!(
        kept.closed().await.unwrap_err().kind(),
        ErrorKind::ConnectionReset
    );
    assert_eq!(
        hanging.closed().await.unwrap_err().kind(),
        ErrorKind::ConnectionReset
    );
    assert_eq!(seat.ended().await.how, Ending::Reset);
}

#[tokio::test]
async fn a_status_is_answered_whatever_was_asked() {
    let mut seat = Seat::start();
    let mut client = Client::connect(seat.port()).await.unwrap();
    let codes = [
        (401, "activity_hook_unauthorized"),
        (404, "session_not_found"),
        (500, "internal_error"),
        (503, "activity_hook_unconfigured"),
    ];
    for (status, code) in codes {
        seat.endpoint.set(Fault::Status(status)).unwrap();
        let response = client.ask(&post(&body(1))).await.unwrap();
        assert_eq!(
            (response.status, response.json()["code"].as_str()),
            (status, Some(code))
        );
        let (_, end) = seat.exchange().await;
        assert_eq!((end.how, end.recorded), (Ending::Answered { status }, false));
    }
    seat.endpoint.set(Fault::Status(7)).unwrap();
    assert_eq!(client.ask(&post(&body(1))).await.unwrap().status, 500);
}

#[tokio::test]
async fn a_bad_body_is_no_json() {
    let mut seat = Seat::start();
    seat.endpoint.set(Fault::BadBody).unwrap();
    let mut client = Client::connect(seat.port()).await.unwrap();
    let response = client.ask(&post(&body(1))).await.unwrap();
    assert_eq!(response.status, 200);
    assert!(serde_json::from_slice::<serde_json::Value>(&response.body).is_err());
    assert!(seat.exchange().await.1.recorded);
}

#[tokio::test]
async fn an_answer_can_break_off() {
    let mut seat = Seat::start();
    seat.endpoint.set(Fault::CloseMidAnswer).unwrap();
    let mut client = Client::connect(seat.port()).await.unwrap();
    assert_eq!(
        client.ask(&post(&body(1))).await.unwrap_err().kind(),
        ErrorKind::UnexpectedEof
    );
    let (_, end) = seat.exchange().await;
    assert_eq!((end.how, end.recorded), (Ending::AnswerCut, true));
    seat.endpoint.set(Fault::Healthy).unwrap();
    let mut client = Client::connect(seat.port()).await.unwrap();
    assert_eq!(client.ask(&post(&body(2))).await.unwrap().status, 200);
}
