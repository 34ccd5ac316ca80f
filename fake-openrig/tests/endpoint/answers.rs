//! OpenRig's answers, in the order of its checks.

use fake_openrig::endpoint::{Authorization, Ending, Exchange, Fault};

use crate::client::Client;
use crate::seat::{PATH, Seat, TOKEN, body, post, request};

#[tokio::test]
async fn each_answer_of_the_table() {
    let bearer = format!("authorization: Bearer {TOKEN}");
    let other = format!("x-openrig-activity-token: {TOKEN}");
    let wrong = "authorization: Bearer wrong".to_owned();
    let rows: [(&[String], &str, u16, &str, Authorization); 8] = [
        (
            &[],
            "not json",
            401,
            "activity_hook_unauthorized",
            Authorization::Absent,
        ),
        (
            std::slice::from_ref(&wrong),
            "not json",
            401,
            "activity_hook_unauthorized",
            Authorization::Wrong,
        ),
        (
            std::slice::from_ref(&bearer),
            "not json",
            400,
            "invalid_json",
            Authorization::Right,
        ),
        (
            std::slice::from_ref(&bearer),
            "{}",
            400,
            "missing_session_identity",
            Authorization::Right,
        ),
        (
            std::slice::from_ref(&other),
            "{}",
            400,
            "missing_session_identity",
            Authorization::OtherHeader,
        ),
        (
            std::slice::from_ref(&bearer),
            r#"{"nodeId": "n2"}"#,
            404,
            "session_not_found",
            Authorization::Right,
        ),
        (
            &[wrong.clone(), other.clone()],
            r#"{"nodeId": "n1"}"#,
            200,
            "",
            Authorization::OtherHeader,
        ),
        (
            std::slice::from_ref(&bearer),
            r#"{"sessionName": "pod-member@rig"}"#,
            200,
            "",
            Authorization::Right,
        ),
    ];
    let mut seat = Seat::start();
    let mut client = Client::connect(seat.port()).await.unwrap();
    for (headers, body, status, code, authorization) in rows {
        let response = client
            .ask(&request("POST", PATH, headers, body.as_bytes()))
            .await
            .unwrap();
        assert_eq!(response.status, status, "{headers:?} {body}");
        assert_eq!(response.json()["code"].as_str().unwrap_or_default(), code);
        assert_eq!(response.json()["ok"], status == 200);
        let (start, end) = seat.exchange().await;
        assert_eq!(
            (start.authorization, start.body.as_slice()),
            (authorization, body.as_bytes())
        );
        assert_eq!(
            (end.how, end.recorded),
            (Ending::Answered { status }, status == 200)
        );
    }
}

#[tokio::test]
async fn an_endpoint_that_is_not_configured_says_so_first() {
    let seat = Seat::start();
    seat.endpoint.set(Fault::Status(503)).unwrap();
    let mut client = Client::connect(seat.port()).await.unwrap();
    let response = client
        .ask(&request("POST", PATH, &[], b"not json"))
        .await
        .unwrap();
    assert_eq!(
        (response.status, response.json()["code"].as_str()),
        (503, Some("activity_hook_unconfigured"))
    );
}

#[tokio::test]
async fn a_request_that_went_astray_is_reported() {
    let mut seat = Seat::start();
    let mut client = Client::connect(seat.port()).await.unwrap();
    let response = client
        .ask(&request("GET", "//api/activity/hooks?a=b", &[], b""))
        .await
        .unwrap();
    assert_eq!(response.status, 404);
    let (start, end) = seat.exchange().await;
    assert_eq!(start.path, "//api/activity/hooks?a=b");
    assert_eq!(end.how, Ending::Answered { status: 404 });
}

#[tokio::test]
async fn bytes_that_are_no_request_are_reported() {
    let mut seat = Seat::start();
    for (bytes, is_answered) in [
        (&b"\x16\x03\x01\x02\x00\x01\r\n\r\n"[..], true),
        (b"POST /api", false),
    ] {
        let mut client = Client::connect(seat.port()).await.unwrap();
        client.send(bytes).await.unwrap();
        if is_answered {
            assert_eq!(client.response().await.unwrap().status, 400);
        }
        drop(client);
        assert!(matches!(seat.event().await, Exchange::NoRequest { .. }));
    }
    // A connection that brings nothing is nothing to speak of.
    drop(Client::connect(seat.port()).await.unwrap());
    let mut client = Client::connect(seat.port()).await.unwrap();
    client.ask(&post(&body(1))).await.unwrap();
    assert_eq!(seat.exchange().await.0.id, 1);
}

#[tokio::test]
async fn fifty_posts_on_one_connection() {
    let mut seat = Seat::start();
    let mut client = Client::connect(seat.port()).await.unwrap();
    let mut last_end = 0;
    for sequence in 1..=50 {
        let response = client.ask(&post(&body(sequence))).await.unwrap();
        assert_eq!(
            (response.status, response.json()["activity"]["state"].as_str()),
            (200, Some("idle"))
        );
        let (start, end) = seat.exchange().await;
        assert_eq!(start.id, sequence);
        assert!(last_end <= start.at && Some(start.at) <= start.body_at && start.body_at <= Some(end.at));
        last_end = end.at;
    }
}

#[tokio::test]
async fn a_body_in_pieces_and_in_chunks_is_read_whole() {
    let mut seat = Seat::start();
    let mut client = Client::connect(seat.port()).await.unwrap();
    for byte in post(&body(1)) {
        client.send(&[byte]).await.unwrap();
    }
    assert_eq!(client.response().await.unwrap().status, 200);
    assert_eq!(seat.exchange().await.0.body, body(1).into_bytes());

    let head = format!(
        "POST {PATH} HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\nauthorization: Bearer {TOKEN}\r\n\r\n"
    );
    client.send(head.as_bytes()).await.unwrap();
    for part in [&body(2)[..10], &body(2)[10..]] {
        client
            .send(format!("{:x}\r\n{part}\r\n", part.len()).as_bytes())
            .await
            .unwrap();
    }
    client.send(b"0\r\n\r\n").await.unwrap();
    assert_eq!(client.response().await.unwrap().status, 200);
    assert_eq!(seat.exchange().await.0.body, body(2).into_bytes());
}

#[tokio::test]
async fn the_token_is_in_no_event_wherever_it_is_put() {
    let mut seat = Seat::start();
    let mut client = Client::connect(seat.port()).await.unwrap();
    let headers = [
        format!("authorization: Bearer {TOKEN}"),
        format!("content-type: {TOKEN}"),
    ];
    let body = format!(r#"{{"nodeId": "n1", "note": "{TOKEN}"}}"#);
    let path = format!("{PATH}?token={TOKEN}");
    assert_eq!(
        client
            .ask(&request("POST", &path, &headers, body.as_bytes()))
            .await
            .unwrap()
            .status,
        200
    );
    let (start, _) = seat.exchange().await;
    assert!(start.token_removed);
    assert_eq!(start.path, format!("{PATH}?token=[token]"));
    assert_eq!(start.body, br#"{"nodeId": "n1", "note": "[token]"}"#);
}

#[tokio::test]
async fn the_events_end_after_the_endpoint() {
    let Seat { endpoint, mut events } = Seat::start();
    let mut client = Client::connect(endpoint.port()).await.unwrap();
    client.ask(&post(&body(1))).await.unwrap();
    let port = endpoint.port();
    drop(endpoint);
    client.closed().await.unwrap();
    assert!(Client::connect(port).await.is_err());
    let mut count = 0;
    while let Some(event) = events.recv().await {
        assert!(matches!(event, Exchange::Started { .. } | Exchange::Ended { .. }));
        count += 1;
    }
    assert_eq!(count, 2);
}
