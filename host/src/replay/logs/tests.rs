use super::*;

fn told(logs: &mut Logs, line: &Value) -> Option<Value> {
    logs.line(&line.to_string()).pass.map(|pass| serde_json::from_str(&pass).expect("JSON"))
}

fn line(at: &str, id: &str, message: &str) -> Value {
    json!({
        "level": "info", "ts": at, "msg": message, "controller": "kustomization",
        "controllerGroup": "kustomize.toolkit.fluxcd.io", "controllerKind": "Kustomization",
        "Kustomization": {"name": "app", "namespace": "infra"}, "namespace": "infra", "name": "app",
        "reconcileID": id, "revision": "main@sha1:0",
    })
}

#[test]
fn a_finished_pass_tells_its_result_and_what_queued_it() {
    let mut logs = Logs::default();
    let finished = "Reconciliation finished in 2.5s, next run in 10m0s";
    let first = told(&mut logs, &line("2026-01-01T00:00:00.000Z", "a", finished)).expect("a pass");
    assert_eq!(first["spec"]["outcome"]["type"], "succeeded");
    assert_eq!(first["spec"]["result"]["requeueAfter"], "10m0s");
    assert_eq!(first["spec"]["input"], "main@sha1:0");
    assert_eq!(first["spec"]["trigger"], Value::Null);
    let early = told(&mut logs, &line("2026-01-01T00:03:00.000Z", "b", finished)).expect("a pass");
    assert_eq!(early["spec"]["trigger"], "watch");
    assert_eq!(early["spec"]["earlier"][0]["outcome"], "succeeded");
    let due = told(&mut logs, &line("2026-01-01T00:12:40.000Z", "c", finished)).expect("a pass");
    assert_eq!(due["spec"]["trigger"], "timer");
    let started = line("2026-01-01T00:12:50.000Z", "", "starting manager");
    assert_eq!(told(&mut logs, &started), None);
    let again = told(&mut logs, &line("2026-01-01T00:13:00.000Z", "d", finished)).expect("a pass");
    assert_eq!(again["spec"]["trigger"], "start");
    assert_eq!(again["spec"]["earlier"], Value::Null);
}

#[test]
fn the_runtime_repeats_what_the_controller_said_unless_it_failed() {
    let mut logs = Logs::default();
    let at = "2026-01-01T00:00:00Z";
    let finished = "Reconciliation finished in 2.5s, next run in 10m0s";
    assert!(told(&mut logs, &line(at, "a", finished)).is_some());
    let repeated = "Reconcile done, requeueing after 9m42s";
    assert_eq!(told(&mut logs, &line(at, "a", repeated)), None);
    let mut error = line(at, "a", "Reconciler error");
    error["error"] = "failed to patch the status".into();
    let failed = told(&mut logs, &error).expect("a pass");
    assert_eq!(failed["spec"]["outcome"]["type"], "failed");
    assert_eq!(failed["spec"]["result"], json!({"error": "failed to patch the status"}));
}

#[test]
fn what_a_controller_says_within_a_pass_is_its_outcome() {
    let mut logs = Logs::default();
    let at = "2026-01-01T00:00:00Z";
    let mut canceled = line(at, "a", "New reconciliation triggered, canceling health checks");
    canceled["trigger"] = json!({"kind": "GitRepository", "name": "app", "namespace": "infra"});
    assert_eq!(told(&mut logs, &canceled), None);
    let pass = told(&mut logs, &line(at, "a", "Reconcile successful")).expect("a pass");
    assert_eq!(
        pass["spec"]["outcome"],
        json!({"type": "canceled", "by": "GitRepository/infra/app"})
    );
    assert_eq!(pass["spec"]["result"], json!({}));
    let pass = told(&mut logs, &line(at, "b", "Reconcile successful")).expect("a pass");
    assert_eq!(pass["spec"]["outcome"], Value::Null);
}

#[test]
fn every_line_that_ends_a_pass_is_known() {
    let ends = [
        (
            "Reconciliation failed after 5m0.1s, next try in 2m0s",
            "failed",
            json!({"requeueAfter": "2m0s"}),
        ),
        (
            "Dependencies do not meet ready condition, retrying in 30s",
            "waiting",
            json!({"requeueAfter": "30s"}),
        ),
        ("artifact not found. Retrying in 30s", "waiting", json!({"requeueAfter": "30s"})),
        (
            concat!("reconcil", "ation finished in 2.4s, next run in 5m0s"),
            "",
            json!({"requeueAfter": "5m0s"}),
        ),
        ("Reconcile done, requeueing after 5m0s", "", json!({"requeueAfter": "5m0s"})),
        ("Reconcile done, requeueing", "", json!({"requeue": true})),
        ("Reconcile successful", "", json!({})),
    ];
    for (message, outcome, result) in ends {
        let pass = told(&mut Logs::default(), &line("2026-01-01T00:00:00Z", "a", message));
        let pass = pass.unwrap_or_else(|| panic!("{message}"));
        let found = &pass["spec"]["outcome"]["type"];
        assert_eq!(found.as_str().unwrap_or_default(), outcome, "{message}");
        assert_eq!(pass["spec"]["result"], result, "{message}");
    }
    for message in ["server-side apply completed", "Reconciliation finished in 3s", "Reconciling"] {
        let pass = told(&mut Logs::default(), &line("2026-01-01T00:00:00Z", "a", message));
        assert_eq!(pass, None, "{message}");
    }
}

#[test]
fn a_terminal_error_is_told_by_its_text() {
    let mut error = line("2026-01-01T00:00:00Z", "a", "Reconciler error");
    error["error"] = "terminal error: failed to parse".into();
    let pass = told(&mut Logs::default(), &error).expect("a pass");
    assert_eq!(pass["spec"]["outcome"]["type"], "terminal");
    assert_eq!(pass["spec"]["result"]["terminal"], true);
}

#[test]
fn lines_of_older_runtimes_have_other_keys() {
    let old = json!({
        "level": "info", "ts": 1_613_240_063.708, "logger": "controller.gitrepository",
        "msg": "Reconciliation finished in 1.569794556s, next run in 1m0s",
        "reconciler group": "source.toolkit.fluxcd.io", "reconciler kind": "GitRepository",
        "name": "app", "namespace": "infra",
    });
    let mut logs = Logs::default();
    for _ in 0..2 {
        let pass = told(&mut logs, &old).expect("a pass");
        assert_eq!(pass["spec"]["object"]["apiVersion"], "source.toolkit.fluxcd.io/unknown");
        assert_eq!(pass["spec"]["now"], "2021-02-13T18:14:23.708Z");
    }
}

#[test]
fn what_the_log_does_not_tell_is_said_once() {
    let mut logs = Logs::default();
    let other = json!({"level": "info", "ts": "2026-01-01T00:00:00Z", "msg": "attempting to acquire leader lease"});
    assert_eq!(logs.line(&other.to_string()).notes, [UNTOLD, OF_NO_OBJECT]);
    assert_eq!(logs.line(&other.to_string()).notes, [OF_NO_OBJECT]);
}
