//! Policies that misbehave cost their own answer and nothing else.

use std::time::{Duration, Instant};

use hyper::StatusCode;
use plumb_tests::server::{Client, JSON, Protocol, Server};
use serde_json::Value;

use crate::{sized, small_objects_misbehave};

/// What is answered for it, the instructions, and the functions beside them.
const HOSTILE: [(&str, &str, &str); 6] = [
    ("out-of-time", "(loop $forever (br $forever)) unreachable", ""),
    (
        "out-of-memory",
        "(loop $more (drop (memory.grow (i32.const 16))) (br $more)) unreachable",
        "",
    ),
    (
        "stack-overflow",
        "(call $deeper (i32.const 0))",
        "(func $deeper (param i32) (result i32)
            (i32.add (call $deeper (local.get 0)) (i32.const 1)))",
    ),
    ("trapped", "unreachable", ""),
    ("contract", "i32.const -8", ""),
    ("contract", "(i32.store (i32.const 2048) (i32.const 9)) i32.const 2048", ""),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_policy_is_never_a_pass_and_harms_nobody() {
    for (outcome, body, functions) in HOSTILE {
        let server = Server::start(small_objects_misbehave(body, functions), None).await;
        for _ in 0..3 {
            let (status, answer) = server.post("/validate", sized(false)).await;
            assert_eq!(status, StatusCode::OK, "{outcome}");
            assert_eq!(answer["response"]["allowed"], true, "fail open by default");
            let warning = answer["response"]["warnings"][0].as_str().unwrap();
            assert!(warning.contains("could not judge"), "{outcome}: {warning}");
            let (_, answer) = server.post("/validate", sized(true)).await;
            assert_eq!(answer["response"]["warnings"], Value::Null, "{outcome}");
        }
        let metric = format!(r#"plumb_evaluations_total{{door="validate",outcome="{outcome}"}}"#);
        assert_eq!(server.metric(&metric).await, Some(3.0), "{outcome}");
        let passes = r#"plumb_evaluations_total{door="validate",outcome="ok"}"#;
        assert_eq!(server.metric(passes).await, Some(3.0), "{outcome}");
        server.stop().await;
    }
}

/// While one client keeps a thread busy with endless loops, the others are answered as before: far
/// below the deadline of a webhook.
#[tokio::test(flavor = "multi_thread")]
async fn others_are_answered_in_time_beside_an_endless_loop() {
    let (_, body, functions) = HOSTILE[0];
    let server = Server::start(small_objects_misbehave(body, functions), None).await;
    let address = server.bound.judging;
    let ca_pem = server.ca_pem.clone();
    let attacker = tokio::spawn(async move {
        let mut client = Client::connect(address, &ca_pem, Protocol::Http1).await;
        for _ in 0..5 {
            let (status, _) = client.post("/validate", JSON, sized(false).into()).await.unwrap();
            assert_eq!(status, StatusCode::OK);
        }
    });
    let mut client = Client::connect(address, &server.ca_pem, Protocol::Http2).await;
    let mut slowest = Duration::ZERO;
    let mut answered = 0;
    while !attacker.is_finished() || answered < 50 {
        let started = Instant::now();
        let (status, answer) = client.post("/validate", JSON, sized(true).into()).await.unwrap();
        slowest = slowest.max(started.elapsed());
        assert_eq!(status, StatusCode::OK);
        assert_eq!(answer["response"]["warnings"], Value::Null);
        answered += 1;
    }
    attacker.await.unwrap();
    // Not a measurement: one that waits for the endless loop takes as long as its deadline.
    assert!(slowest < Duration::from_secs(2), "{slowest:?} of {answered}");
    server.stop().await;
}

/// A component of another world is refused before anything is served.
#[test]
fn a_component_of_another_world_is_not_served() {
    let engine = plumb_host::engine::Engine::new(1).unwrap();
    let other = wat::parse_str("(component)").unwrap();
    let error = engine.load_bytes(&other).expect_err("it exports nothing");
    assert!(error.to_string().contains("plumb:policy"), "{error}");
    assert!(engine.load_bytes(b"no component").is_err());
}
