//! From JSON to a [`Scenario`]. Every field that is not known is an error that names its path.

mod controller;

use plumb_queue::{Backoff, Flavour, Runtime};
use serde_json::Value;

use super::{
    expression::{self, Ast, Atom, MAX_NUMBER},
    reader::{Fields, Node, Result, ScenarioError},
    scenario::{
        Assigned, Assignment, Cause, Check, Coherent, Domain, Doubled, Expectation, Expectations,
        Field, Object, Owed, Record, Scenario, Verdict, WorldAction, WorldStep,
    },
};

pub(super) const API_VERSION: &str = "plumb.dev/v1alpha1";

pub(super) const FLAVOURS: [(&str, Flavour); 3] =
    [("classic", Flavour::Classic), ("priority", Flavour::Priority), ("kube-rs", Flavour::KubeRs)];

const CHECKS: [(&str, Check); 4] = [
    ("stuck", Check::Stuck),
    ("lasso", Check::Lasso),
    ("tornRead", Check::TornRead),
    ("doubled", Check::Doubled),
];

/// What a status of a queue trace may say, and whether it is a condition.
pub(super) const STATUS: [(&str, bool); 7] = [
    ("ready", true),
    ("reconciling", true),
    ("stalled", true),
    ("reason", false),
    ("attempted", false),
    ("applied", false),
    ("handled", false),
];

const VERDICTS: [(&str, Verdict); 5] = [
    ("clean", Verdict::Clean),
    ("stuck", Verdict::Stuck),
    ("lasso", Verdict::Lasso),
    ("torn-read", Verdict::TornRead),
    ("doubled", Verdict::Doubled),
];

impl Scenario {
    /// Reads a document of `kind: Scenario`.
    ///
    /// # Errors
    /// The field that is wrong, missing or unknown, and what was expected there.
    pub fn from_json(document: &Value) -> Result<Self> {
        let root = Node::new(document, "");
        let mut fields = root.fields()?;
        fields.required("apiVersion")?.word(&[(API_VERSION, ())])?;
        fields.required("kind")?.word(&[("Scenario", ())])?;
        let mut metadata = fields.required("metadata")?.fields()?;
        let name = metadata.required("name")?.text()?.to_owned();
        metadata.end()?;
        let spec = fields.required("spec")?;
        fields.end()?;
        read_spec(name, &spec)
    }
}

fn read_spec(name: String, spec: &Node<'_>) -> Result<Scenario> {
    let mut fields = spec.fields()?;
    let text = |node: Option<Node<'_>>| node.map(|n| n.text().map(str::to_owned)).transpose();
    let mut scenario = Scenario {
        name,
        source: text(fields.optional("source"))?,
        story: text(fields.optional("story"))?,
        queue: Flavour::Priority,
        expect: Expectations::default(),
        runtime: None,
        keys: 1,
        checks: vec![Check::Stuck, Check::Lasso],
        patience: None,
        hot: 1000,
        long_timers_wait: false,
        backoff: Backoff::CLIENT_GO,
        counted: 3,
        on_error: Some(5000),
        objects: vec![],
        memory: vec![],
        start: vec![],
        owed: vec![],
        coherent: vec![],
        dependents: vec![],
        doubled: None,
        world: vec![],
        controllers: vec![],
        decide: fields.optional("decide").map(|node| node.value.clone()),
        record: fields.optional("record").map_or(Ok(Record::default()), |n| read_record(&n))?,
    };
    if let Some(node) = fields.optional("queue") {
        scenario.queue = node.word(&FLAVOURS)?;
    }
    if let Some(node) = fields.optional("runtime") {
        let words =
            [("controller-runtime", Runtime::ControllerRuntime), ("client-go", Runtime::ClientGo)];
        scenario.runtime = Some(node.word(&words)?);
    }
    if let Some(node) = fields.optional("expect") {
        scenario.expect = read_expectations(&node)?;
    }
    if let Some(node) = fields.optional("keys") {
        scenario.keys = node.small(1, MAX_KEYS)?;
    }
    if let Some(node) = fields.optional("check") {
        scenario.checks =
            node.list()?.iter().map(|check| check.word(&CHECKS)).collect::<Result<_>>()?;
        scenario.checks.sort_unstable();
        scenario.checks.dedup();
    }
    if let Some(node) = fields.optional("patience") {
        scenario.patience = Some(node.positive_duration()?);
    }
    if let Some(node) = fields.optional("hot") {
        scenario.hot = node.positive_duration()?;
    }
    if let Some(node) = fields.optional("longTimers") {
        scenario.long_timers_wait = node.word(&[("fire", false), ("wait", true)])?;
    }
    if let Some(node) = fields.optional("backoff") {
        read_backoff(&node, &mut scenario)?;
    }
    scenario.objects = fields
        .optional("objects")
        .map(|node| node.entries()?.into_iter().map(read_object).collect())
        .transpose()?
        .unwrap_or_default();
    if let Some(node) = fields.optional("memory") {
        scenario.memory = read_fields(&node)?;
    }
    if let Some(node) = fields.optional("start") {
        for (target, value) in node.entries()? {
            let (object, field) = target_of(&value, target)?;
            let atom = read_atom(&value)?;
            scenario.start.push((object, field, atom, value.path));
        }
    }
    for (name, node) in fields.required("owed")?.entries()? {
        let when = read_condition(&node)?;
        scenario.owed.push(Owed { name: name.to_owned(), when, path: node.path });
    }
    if let Some(node) = fields.optional("coherent") {
        for (object, node) in node.entries()? {
            let holds = read_condition(&node)?;
            scenario.coherent.push(Coherent { object: object.to_owned(), holds, path: node.path });
        }
    }
    if let Some(node) = fields.optional("dependents") {
        for node in node.one_or_more() {
            scenario.dependents.push((node.text()?.to_owned(), node.path));
        }
    }
    scenario.doubled = fields.optional("doubled").map(|node| read_doubled(&node)).transpose()?;
    if let Some(node) = fields.optional("world") {
        scenario.world = node.list()?.iter().map(read_world_step).collect::<Result<_>>()?;
    }
    if let Some(node) = fields.optional("controllers") {
        for (name, node) in node.entries()? {
            scenario.controllers.push(controller::read(name, &node)?);
        }
    }
    fields.end()?;
    for (check, is_given, field) in [
        (Check::Doubled, scenario.doubled.is_some(), "doubled"),
        (Check::TornRead, !scenario.coherent.is_empty(), "coherent"),
    ] {
        if scenario.checks.contains(&check) && !is_given {
            return Err(ScenarioError {
                path: "spec.check".to_owned(),
                message: format!("`spec.{field}` is missing; it says what this check looks for"),
            });
        }
    }
    Ok(scenario)
}

/// The product of what keys can do explodes soon after.
pub(super) const MAX_KEYS: u8 = 6;

fn read_expectations(node: &Node<'_>) -> Result<Expectations> {
    let mut fields = node.fields()?;
    let always = read_expectation(&mut fields)?;
    let mut expectations = Expectations { always, ..Expectations::default() };
    if let Some(queues) = fields.optional("queues") {
        for (name, node) in queues.entries()? {
            let flavour = Node::new(&Value::from(name), &*node.path).word(&FLAVOURS)?;
            let mut fields = node.fields()?;
            expectations.queues.insert(flavour, read_expectation(&mut fields)?);
            fields.end()?;
        }
    }
    fields.end()?;
    Ok(expectations)
}

fn read_expectation(fields: &mut Fields<'_>) -> Result<Expectation> {
    let steps = fields.optional("steps").map(|n| n.number(0, 1_000_000)).transpose()?;
    Ok(Expectation {
        verdict: fields.optional("verdict").map(|n| n.word(&VERDICTS)).transpose()?,
        steps: steps.and_then(|steps| usize::try_from(steps).ok()),
        asleep: match fields.optional("asleep") {
            Some(node) if node.value.as_str() == Some("never") => Some(0),
            node => node.map(|node| node.positive_duration()).transpose()?,
        },
    })
}

fn read_backoff(node: &Node<'_>, scenario: &mut Scenario) -> Result<()> {
    let mut fields = node.fields()?;
    if let Some(node) = fields.optional("base") {
        scenario.backoff.base = node.positive_duration()?;
    }
    if let Some(node) = fields.optional("max") {
        scenario.backoff.max = node.positive_duration()?;
    }
    if let Some(node) = fields.optional("counted") {
        scenario.counted = node.small(0, 8)?;
    }
    if let Some(node) = fields.optional("onError") {
        scenario.on_error = match node.value.as_str() {
            Some("await") => None,
            _ => Some(node.positive_duration()?),
        };
    }
    fields.end()
}

fn read_object((name, node): (&str, Node<'_>)) -> Result<Object> {
    let mut fields = node.fields()?;
    let per_key = match fields.optional("per") {
        None => false,
        Some(node) => node.word(&[("key", true), ("scenario", false)])?,
    };
    let object = Object {
        name: name.to_owned(),
        per_key,
        fields: read_fields(&fields.required("fields")?)?,
    };
    fields.end()?;
    if ["memory", "event", "old", "new"].contains(&name) {
        return Err(node.error("this name has a meaning of its own in conditions"));
    }
    Ok(object)
}

fn read_fields(node: &Node<'_>) -> Result<Vec<Field>> {
    let read = |(name, node): (&str, Node<'_>)| {
        let domain = read_domain(&node)?;
        Ok(Field { name: name.to_owned(), domain, path: node.path })
    };
    node.entries()?.into_iter().map(read).collect()
}

/// `1..3` or `pending | running | done`; the first value is the initial one.
fn read_domain(node: &Node<'_>) -> Result<Domain> {
    let text = node.text()?;
    if let Some((low, high)) = text.split_once("..") {
        let bound = |text: &str| text.trim().parse().ok().filter(|n: &u8| *n <= MAX_NUMBER);
        return match (bound(low), bound(high)) {
            (Some(low), Some(high)) if low <= high => Ok(Domain::Numbers { low, high }),
            _ => Err(node.error(format_args!(
                "expected `low..high` with numbers up to {MAX_NUMBER}, found `{text}`"
            ))),
        };
    }
    let labels: Vec<String> = text.split('|').map(|label| label.trim().to_owned()).collect();
    let is_label = |label: &String| matches!(expression::parse_atom(label), Ok(Atom::Label(parsed)) if parsed == *label);
    if labels.len() < 2 || labels.len() > usize::from(MAX_NUMBER) || !labels.iter().all(is_label) {
        return Err(node.error(format_args!(
            "expected the values as `1..3` or `pending | done`, the first is the initial one; found `{text}`"
        )));
    }
    Ok(Domain::Labels(labels))
}

fn read_record(node: &Node<'_>) -> Result<Record> {
    let mut fields = node.fields()?;
    let mut record = Record::default();
    if let Some(node) = fields.optional("sources") {
        for (object, node) in node.entries()? {
            record.sources.push((object.to_owned(), node.text()?.to_owned(), node.path));
        }
    }
    if let Some(node) = fields.optional("every") {
        for node in node.one_or_more() {
            record.every.push((node.text()?.to_owned(), node.path));
        }
    }
    if let Some(node) = fields.optional("status") {
        for (name, node) in node.entries()? {
            Node::new(&Value::from(name), &*node.path).word(&STATUS)?;
            record.status.push((name.to_owned(), read_condition(&node)?, node.path));
        }
    }
    fields.end()?;
    Ok(record)
}

fn read_doubled(node: &Node<'_>) -> Result<Doubled> {
    let mut fields = node.fields()?;
    let words = [("requeue", Some(Cause::Requeue)), ("event", Some(Cause::Event)), ("any", None)];
    let doubled = Doubled {
        at: fields.required("at")?.text()?.to_owned(),
        when: read_condition(&fields.required("when")?)?,
        woken_by: fields.optional("wokenBy").map(|n| n.word(&words)).transpose()?.flatten(),
        path: node.path.clone(),
    };
    fields.end()?;
    Ok(doubled)
}

fn read_world_step(node: &Node<'_>) -> Result<WorldStep> {
    let mut fields = node.fields()?;
    let name = fields.required("name")?.text()?.to_owned();
    let times = match fields.optional("times") {
        None => Some(1),
        Some(node) if node.value.as_str() == Some("always") => None,
        Some(node) => Some(node.small(1, 15)?),
    };
    let within = fields.optional("within").map(|n| n.positive_duration()).transpose()?;
    let sure = fields.optional("sure").map(|n| n.bool()).transpose()?.unwrap_or(false);
    let when = fields.optional("when").map(|n| read_condition(&n)).transpose()?;
    let mut actions: Vec<(Option<Ast>, WorldAction)> = if let Some(steps) = fields.optional("steps")
    {
        let read = |node: Node<'_>| {
            let mut fields = node.fields()?;
            let when = fields.optional("when").map(|n| read_condition(&n)).transpose()?;
            let action = read_world_action(&mut fields)?;
            fields.end()?;
            Ok((when, action))
        };
        steps.list()?.into_iter().map(read).collect::<Result<_>>()?
    } else {
        vec![(None, read_world_action(&mut fields)?)]
    };
    fields.end()?;
    if let (Some(when), Some((first, _))) = (when, actions.first_mut()) {
        *first = Some(match first.take() {
            None => when,
            Some(first) => Ast::And(vec![when, first]),
        });
    }
    if actions.is_empty() || actions.len() > 7 {
        return Err(node.error("expected one to seven steps"));
    }
    let path = node.path.clone();
    Ok(WorldStep { name, actions, times, sure: sure || within.is_some(), within, path })
}

fn read_world_action(fields: &mut Fields<'_>) -> Result<WorldAction> {
    if let Some(node) = fields.optional("set") {
        return Ok(WorldAction::Set(read_assignments(&node, None)?));
    }
    if let Some(node) = fields.optional("touch") {
        return Ok(WorldAction::Touch(node.text()?.to_owned()));
    }
    if let Some(node) = fields.optional("restart") {
        return Ok(WorldAction::Restart(node.text()?.to_owned()));
    }
    if let Some(node) = fields.optional("add") {
        return Ok(WorldAction::Add(node.text()?.to_owned()));
    }
    if let Some(node) = fields.optional("resync") {
        let (controller, object) = target_of(&node, node.text()?)?;
        return Ok(WorldAction::Resync { controller, object });
    }
    Err(fields.error("one of `set`, `touch`, `restart`, `resync`, `add` is missing"))
}

/// `object.field: value` entries, or `field: value` entries of one object.
pub(super) fn read_assignments(node: &Node<'_>, object: Option<&str>) -> Result<Vec<Assignment>> {
    let mut assignments = vec![];
    for (target, node) in node.entries()? {
        let (object, field) = match object {
            Some(object) => (object.to_owned(), target.to_owned()),
            None => target_of(&node, target)?,
        };
        let value = match &*node.scalar()? {
            "next" => Assigned::Next,
            _ => Assigned::Value(read_atom(&node)?),
        };
        assignments.push(Assignment { object, field, value, path: node.path });
    }
    Ok(assignments)
}

fn target_of(node: &Node<'_>, target: &str) -> Result<(String, String)> {
    match target.split_once('.') {
        Some((object, field)) if !object.is_empty() && !field.is_empty() => {
            Ok((object.to_owned(), field.to_owned()))
        }
        _ => Err(node.error(format_args!("expected two names joined by a dot, found `{target}`"))),
    }
}

fn read_atom(node: &Node<'_>) -> Result<Atom> {
    expression::parse_atom(&node.scalar()?).map_err(|message| node.error(message))
}

pub(super) fn read_condition(node: &Node<'_>) -> Result<Ast> {
    expression::parse(&node.scalar()?).map_err(|message| node.error(message))
}
