//! Flux's own checker of conditions (`runtime/conditions/check` of fluxcd/pkg) beside these rules:
//! made into `docs/fluxcheck.md` where its samples are there.

use std::fmt::Write as _;
use std::fs;

use plumb_policy::verdict::{self, Observation};
use plumb_tests::{generated, native};
use serde_json::{Value, json};

/// A rule of the checker: its id, what it finds, the rule here that finds it, and why the two do
/// not always agree.
struct Peer {
    id: &'static str,
    finds: &'static str,
    here: &'static [&'static str],
    differs: &'static str,
}

const PEERS: [Peer; 15] = [
    Peer {
        id: "FAIL0001",
        finds: "Ready is True beside a negative condition that is True",
        here: &["ready-while-abnormal"],
        differs: "",
    },
    Peer {
        id: "FAIL0002",
        finds: "there is no Ready",
        here: &["summary-condition-missing"],
        differs: "",
    },
    Peer {
        id: "FAIL0003",
        finds: "Reconciling is True and Ready is not False",
        here: &["ready-while-reconciling-or-stalled"],
        differs: "only worth knowing (info): source-controller keeps Ready while it processes a new \
                  generation, helm-controller at every interval; beside Unknown it is the normal \
                  state of work",
    },
    Peer {
        id: "FAIL0004",
        finds: "Stalled is True and Ready is not False",
        here: &["ready-while-reconciling-or-stalled", "status-breaks-invariant"],
        differs: "",
    },
    Peer {
        id: "FAIL0005",
        finds: "Reconciling and Stalled are both there",
        here: &["reconciling-and-stalled"],
        differs: "",
    },
    Peer {
        id: "FAIL0006",
        finds: "the observed generation is beyond the generation",
        here: &["observed-generation-ahead"],
        differs: "",
    },
    Peer {
        id: "FAIL0007",
        finds: "Ready is True with an older observed generation",
        here: &["ready-with-stale-generation", "status-generation-behind-ready"],
        differs: "",
    },
    Peer {
        id: "FAIL0008",
        finds: "Ready is True, and some condition is of an older generation",
        here: &["ready-with-stale-generation"],
        differs: "only of the conditions that make the object ready: Released of a HelmRelease and \
                  SourceVerified of a source keep the generation of what they tell of",
    },
    Peer {
        id: "FAIL0009",
        finds: "Ready is True, and some condition is of another generation than the status",
        here: &["status-generation-behind-ready"],
        differs: "only where Ready is beyond the status; a condition behind it is legal, see \
                  FAIL0008, and without `metadata.generation` nothing can be called old",
    },
    Peer {
        id: "FAIL0011",
        finds: "Ready is Unknown and Reconciling is not True",
        here: &["status-breaks-invariant"],
        differs: "an invariant of the profiles of Flux's kinds, since other kinds do without \
                  Reconciling; a missing Ready is FAIL0002's",
    },
    Peer {
        id: "WARN0001",
        finds: "Ready is True beside a negative condition, whatever its status",
        here: &["ready-while-abnormal"],
        differs: "only where it is True: a negative condition that is False says that all is well, \
                  as Drifted=False of a HelmRelease does",
    },
    Peer {
        id: "WARN0002",
        finds: "Ready has not reason and message of the first negative condition",
        here: &["summary-hides-the-cause"],
        differs: "the reason alone is enough, and so is that of any cause, not only the first",
    },
    Peer {
        id: "WARN0003",
        finds: "Reconciling is there and False",
        here: &[],
        differs: "no counterpart: a condition that is absent and one that is False mean the same, \
                  and no reader goes wrong",
    },
    Peer {
        id: "WARN0004",
        finds: "Stalled is there and False",
        here: &[],
        differs: "no counterpart, as WARN0003",
    },
    Peer {
        id: "WARN0005",
        finds: "the observed generation of a condition is below 1",
        here: &["observed-generation-not-positive", "condition-without-observed-generation"],
        differs: "not without `metadata.generation`: an excerpt may leave out any number",
    },
];

/// What the profiles of all Flux kinds have in common, for the checker's made-up kind.
fn settings(negative: &Value) -> String {
    let abnormal: Vec<&Value> = negative
        .as_array()
        .into_iter()
        .flatten()
        .filter(|type_| *type_ != "Reconciling" && *type_ != "Stalled")
        .collect();
    json!({"profiles": [{
        "group": "fake.toolkit.fluxcd.io",
        "kinds": ["Fake"],
        "metav1": true,
        "happy": ["Ready"],
        "abnormal": abnormal,
        "progress": ["Reconciling"],
        "stalled": ["Stalled"],
        "summary": true,
        "exclusive": true,
        "copiesReason": true,
        "generation": {"conditions": true, "required": true, "atRest": true},
        "transitions": "state",
        "invariants": [
            {
                "when": [{"condition": "Ready", "status": ["Unknown"]}],
                "must": [{"condition": "Reconciling", "status": ["True"]}],
                "message": "Ready is Unknown, but Reconciling does not say that work is under way",
            },
            {
                "when": [{"condition": "Stalled", "status": ["True"]}],
                "must": [{"condition": "Ready", "status": ["False", "True"]}],
                "message": "Stalled is True, but Ready is not False",
            },
        ],
    }]})
    .to_string()
}

#[test]
fn each_rule_of_the_checker_has_a_counterpart_or_a_reason() {
    for peer in &PEERS {
        assert!(!peer.here.is_empty() || !peer.differs.is_empty(), "{}", peer.id);
        for id in peer.here {
            assert!(plumb_policy::registry::find(id).is_some(), "{}: {id} is no rule", peer.id);
        }
    }
}

#[test]
fn the_manual_tells_how_far_both_agree() {
    let Some(folder) = native::shared("truth/fluxcheck") else { return };
    let text = fs::read_to_string(folder.join("expected.json")).expect("the expectations");
    let samples: Vec<Value> = serde_json::from_str(&text).expect("JSON");
    let mut page = String::from(
        "# Flux's condition checker beside plumb\n\n\
         Flux tests its controllers with a checker of conditions, `runtime/conditions/check` in\n\
         [fluxcd/pkg](https://github.com/fluxcd/pkg). It reads one object and compares conditions with\n\
         conditions; none of its rules compares a condition with another field of the status, so a torn\n\
         status passes them all. Below, each of its rules, what finds the same here, and on how many of\n\
         its own test samples both say the same.\n\n\
         | rule | finds | here | same on | why not always |\n| --- | --- | --- | --- | --- |\n",
    );
    let mut total = (0, 0);
    for peer in &PEERS {
        let rule = format!("check_{}", peer.id);
        let of_rule: Vec<&Value> =
            samples.iter().filter(|sample| sample["rule"] == *rule).collect();
        let same = of_rule.iter().filter(|sample| {
            let path = folder.join(sample["file"].as_str().expect("a file"));
            let object = native::objects(&path).pop().expect("an object");
            let settings = settings(&sample["negativePolarity"]);
            let observation =
                Observation { object: &object, settings: &settings, ..Observation::default() };
            let found = verdict::check(&observation).expect("a verdict").findings;
            let violation = found.iter().any(|finding| peer.here.contains(&finding.rule));
            sample["wantViolation"] == violation
        });
        let same = same.count();
        assert!(!of_rule.is_empty(), "{rule} has no sample");
        assert!(same == of_rule.len() || !peer.differs.is_empty(), "{}: no reason", peer.id);
        total = (total.0 + same, total.1 + of_rule.len());
        let here: Vec<String> =
            peer.here.iter().map(|id| format!("[`{id}`](rules/{id}.md)")).collect();
        let here = if here.is_empty() { "—".into() } else { here.join(", ") };
        let (id, finds, differs, all) = (peer.id, peer.finds, peer.differs, of_rule.len());
        writeln!(page, "| {id} | {finds} | {here} | {same} of {all} | {differs} |")
            .expect("memory");
    }
    let (same, all) = total;
    writeln!(page, "\nTogether: {same} of {all} samples.").expect("memory");
    let files = [("fluxcheck.md".to_string(), page)];
    generated::check("docs", &files, false).unwrap_or_else(|difference| panic!("{difference}"));
}
