//! A policy that misbehaves costs its own evaluation and nothing else.
#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

use plumb_host::engine::{Engine, Error, Isolation, Observation, Policy};
use plumb_tests::guest;

/// An empty object makes the policies of this file misbehave; any other gets an empty verdict.
fn check(policy: &Policy, object: &str) -> Result<(), Error> {
    let observation = Observation {
        object: object.to_owned(),
        old: None,
        history: Vec::new(),
        related: Vec::new(),
        now: None,
        settings: String::new(),
    };
    policy.check(&observation).map(|verdict| assert!(verdict.findings.is_empty()))
}

/// The error of a policy whose `check` is `body`, having checked that it is the same each time,
/// that the policy works before and after, and that another policy of the engine does.
fn contained(body: &str, functions: &str) -> Error {
    // Two slots: a leaked one shows as `Busy` at the third failure.
    let engine = Engine::new(2).unwrap();
    let hostile = engine.load_bytes(&guest::policy(body, functions)).unwrap();
    let other = engine.load_bytes(&guest::policy("i32.const 1024", "")).unwrap();
    let mut errors = Vec::new();
    for isolation in [Isolation::Fresh, Isolation::Reused] {
        let hostile = hostile.clone().with_isolation(isolation);
        check(&hostile, "{}").unwrap();
        for _ in 0..3 {
            errors.push(check(&hostile, "").expect_err("it misbehaves"));
            check(&other, "").unwrap();
            check(&hostile, "{}").unwrap();
        }
    }
    errors.dedup();
    assert_eq!(errors.len(), 1, "the same failure each time: {errors:?}");
    errors.remove(0)
}

/// [`contained`], for an answer that stands at address 2048, written by `stores`.
fn contained_reply(stores: &str, functions: &str) -> String {
    match contained(&format!("{stores} i32.const 2048"), functions) {
        Error::Contract(message) => message,
        other => panic!("a reply of another form, not: {other}"),
    }
}

#[test]
fn an_endless_loop_runs_out_of_time() {
    let error = contained("(loop $forever (br $forever)) unreachable", "");
    assert!(matches!(error, Error::OutOfTime { .. }), "{error}");
}

#[test]
fn an_endless_loop_over_large_fills_runs_out_of_time() {
    let error = contained(
        "(loop $forever
            (memory.fill (i32.const 0) (i32.const 0) (i32.const 131072))
            (br $forever))
         unreachable",
        "",
    );
    assert!(matches!(error, Error::OutOfTime { .. }), "{error}");
}

#[test]
fn an_endless_loop_after_the_answer_runs_out_of_time() {
    let error = contained(
        "(global.set $endless (i32.const 1)) i32.const 1024",
        r#"(global $endless (mut i32) (i32.const 0))
           (func (export "cabi_post_plumb:policy/evaluator@0.1.0#check") (param i32)
               (if (global.get $endless) (then (loop $forever (br $forever)))))"#,
    );
    assert!(matches!(error, Error::OutOfTime { .. }), "{error}");
}

#[test]
fn a_memory_bomb_runs_out_of_memory() {
    let error =
        contained("(loop $more (drop (memory.grow (i32.const 16))) (br $more)) unreachable", "");
    assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
}

#[test]
fn an_endless_recursion_overflows_the_stack() {
    let error = contained(
        "(call $deeper (i32.const 0))",
        "(func $deeper (param i32) (result i32)
            (i32.add (call $deeper (local.get 0)) (i32.const 1)))",
    );
    assert_eq!(error, Error::StackOverflow);
}

#[test]
fn a_trap_is_told_with_its_place() {
    let error = contained("(call $panicking)", "(func $panicking (result i32) unreachable)");
    let Error::Trapped(message) = error else { panic!("another error: {error}") };
    assert_eq!(message, "wasm trap: wasm `unreachable` instruction executed in panicking");
}

#[test]
fn an_access_out_of_bounds_is_a_trap() {
    let error = contained("(i32.load (i32.const -8))", "");
    assert!(matches!(error, Error::Trapped(_)), "{error}");
}

#[test]
fn an_unknown_case_is_no_answer() {
    contained_reply("(i32.store (i32.const 2048) (i32.const 9))", "");
}

#[test]
fn an_answer_outside_of_memory_is_no_answer() {
    let error = contained("i32.const -8", "");
    assert!(matches!(error, Error::Contract(_)), "{error}");
}

#[test]
fn an_answer_at_an_odd_address_is_no_answer() {
    let error = contained("i32.const 1025", "");
    assert!(matches!(error, Error::Contract(_)), "{error}");
}

#[test]
fn text_that_is_not_utf8_is_no_answer() {
    // The verdict's reason: one byte at 3000.
    let message = contained_reply(
        "(i32.store (i32.const 2056) (i32.const 3000))
         (i32.store (i32.const 2060) (i32.const 1))
         (i32.store8 (i32.const 3000) (i32.const 0xff))",
        "",
    );
    assert!(message.contains("utf-8"), "{message}");
}

#[test]
fn an_answer_that_claims_more_than_the_guest_has_is_bounded() {
    // The verdict's findings: 200 records of 48 bytes, each with a message of 100 kB, all of them
    // the same bytes.
    let message = contained_reply(
        "(i32.store (i32.const 2068) (i32.const 8192))
         (i32.store (i32.const 2072) (i32.const 200))
         (call $flood)",
        "(func $flood
            (local $at i32)
            (local.set $at (i32.const 8192))
            (loop $next
                (i32.store offset=20 (local.get $at) (i32.const 20000))
                (i32.store offset=24 (local.get $at) (i32.const 100000))
                (local.set $at (i32.add (local.get $at) (i32.const 48)))
                (br_if $next (i32.lt_u (local.get $at) (i32.const 17792)))))",
    );
    assert!(message.contains("fuel allocated for hostcalls"), "{message}");
}

#[test]
fn a_policy_that_never_starts_gives_no_answer() {
    let policy = guest::policy(
        "i32.const 1024",
        "(func $start (loop $forever (br $forever))) (start $start)",
    );
    let engine = Engine::new(1).unwrap();
    let policy = engine.load_bytes(&policy).unwrap();
    for _ in 0..3 {
        let error = check(&policy, "{}").unwrap_err();
        assert!(matches!(error, Error::OutOfTime { .. }), "{error}");
    }
}

#[test]
fn more_time_is_given_for_more_input() {
    let policy = guest::policy("(loop $forever (br $forever)) unreachable", "");
    let policy = Engine::new(1).unwrap().load_bytes(&policy).unwrap();
    let fuel = |settings: usize| {
        let observation = Observation {
            object: String::new(),
            old: None,
            history: Vec::new(),
            related: Vec::new(),
            now: None,
            settings: " ".repeat(settings),
        };
        match policy.check(&observation) {
            Err(Error::OutOfTime { fuel }) => fuel,
            other => panic!("not out of time: {other:?}"),
        }
    };
    assert!(fuel(1000) > fuel(0));
}

#[test]
fn an_input_larger_than_the_memory_of_an_evaluation_is_refused() {
    // `cabi_realloc` of this policy does not grow the memory.
    let policy = guest::policy("i32.const 1024", "");
    let policy = Engine::new(1).unwrap().load_bytes(&policy).unwrap();
    let error = check(&policy, &" ".repeat(1 << 20)).unwrap_err();
    assert!(matches!(error, Error::Contract(_) | Error::Trapped(_)), "{error}");
    check(&policy, "{}").unwrap();
}

#[test]
fn an_engine_without_a_free_slot_is_busy() {
    let engine = Engine::new(1).unwrap();
    let fresh = engine.load_bytes(&guest::policy("i32.const 1024", "")).unwrap();
    let reused = fresh.clone().with_isolation(Isolation::Reused);
    check(&reused, "{}").unwrap();
    assert_eq!(check(&fresh, "{}"), Err(Error::Busy));
    drop(reused);
    check(&fresh, "{}").unwrap();
}

#[test]
fn a_fresh_evaluation_sees_nothing_of_the_one_before() {
    // The second call of an instance misbehaves.
    let text = guest::module("unreachable", "(global $calls (mut i32) (i32.const 0))").replace(
        "(i32.eqz (local.get 1))",
        "(block (result i32)
            (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
            (i32.gt_u (global.get $calls) (i32.const 1)))",
    );
    let component = guest::component(&text, &guest::contract());
    let fresh = Engine::new(2).unwrap().load_bytes(&component).unwrap();
    let reused = fresh.clone().with_isolation(Isolation::Reused);
    for _ in 0..4 {
        check(&fresh, "{}").unwrap();
    }
    check(&reused, "{}").unwrap();
    assert!(matches!(check(&reused, "{}"), Err(Error::Trapped(_))));
    check(&reused, "{}").unwrap();
}
