//! The hold without a server: admission policies (v1, CEL) of the API server itself.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::expression::{self, Held, LeftOut};
use super::kinds::Kind;
use super::webhooks::rule;

/// What no admission policy can do.
const LIMITS: &str = "judges one write alone, without history and without a clock; changes the \
    status of the named conditions and nothing else; compares digests by one algorithm only";

/// What a validating policy does with a torn status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Tells the user who writes, and the audit log.
    Warn,
    /// Refuses the write.
    Deny,
}

/// The policies of one kind with their bindings, and what of its profile they leave out.
pub fn documents(
    kind: &Kind,
    rules: &BTreeSet<String>,
    action: Action,
) -> (Vec<Value>, Vec<LeftOut>) {
    let (mut held, left_out) = expression::held(&kind.profile);
    held.retain(|one| one.is_exact);
    if held.is_empty() {
        return (Vec::new(), left_out);
    }
    let group = if kind.group.is_empty() { "core" } else { &kind.group };
    let name = format!("plumb-hold.{}.{group}", kind.plural);
    let mut annotations = json!({
        "plumb.dev/rule": rules.iter().cloned().collect::<Vec<_>>().join(","),
        "plumb.dev/kind": format!("{}.{group}", kind.kind),
        "plumb.dev/limits": LIMITS,
    });
    if !left_out.is_empty() {
        let texts: Vec<String> = left_out
            .iter()
            .map(|one| format!("{}: {}: {}", one.condition, one.text, one.why))
            .collect();
        annotations["plumb.dev/left-out"] = json!(texts.join("\n"));
    }
    let documents = vec![
        mutating(&name, &annotations, kind, &held),
        binding("Mutating", &name, None),
        validating(&name, &annotations, kind, &held),
        binding("Validating", &name, Some(action)),
    ];
    (documents, left_out)
}

fn policy(what: &str, name: &str, annotations: &Value, kind: &Kind, held: &[Held]) -> Value {
    let concerns: Vec<String> = held.iter().map(Held::concerns).collect();
    let variables = held.iter().enumerate().flat_map(|(number, one)| one.variables(number));
    let variables: Vec<Value> = variables
        .map(|variable| json!({"name": variable.name, "expression": variable.expression}))
        .collect();
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": format!("{what}AdmissionPolicy"),
        "metadata": {
            "name": name,
            "labels": {"app.kubernetes.io/name": "plumb"},
            "annotations": annotations,
        },
        "spec": {
            "failurePolicy": "Ignore",
            "matchConstraints": {"resourceRules": [rule(kind)]},
            "matchConditions": [{
                "name": "torn-or-to-be-released",
                "expression": concerns.join(" || "),
            }],
            "variables": variables,
        },
    })
}

fn mutating(name: &str, annotations: &Value, kind: &Kind, held: &[Held]) -> Value {
    let mut policy = policy("Mutating", name, annotations, kind, held);
    let spec = &mut policy["spec"];
    // One expression for all conditions: each is judged by the object as it was written, as plumb
    // does, and not as the patch of another one leaves it.
    let changes: Vec<String> =
        held.iter().enumerate().map(|(number, one)| one.change(number)).collect();
    spec["mutations"] = json!([{
        "patchType": "JSONPatch",
        "jsonPatch": {"expression": changes.join(" + ")},
    }]);
    spec["reinvocationPolicy"] = json!("IfNeeded");
    policy
}

fn validating(name: &str, annotations: &Value, kind: &Kind, held: &[Held]) -> Value {
    let mut policy = policy("Validating", name, annotations, kind, held);
    let validations: Vec<Value> = held
        .iter()
        .enumerate()
        .map(|(number, one)| {
            let (condition, fields) = (&one.condition, one.fields.join(", "));
            json!({
                "expression": format!("!({})", one.is_torn(number)),
                "message": format!("{condition} is True and names another value than {fields} holds"),
                "reason": "Invalid",
            })
        })
        .collect();
    policy["spec"]["validations"] = json!(validations);
    policy
}

fn binding(what: &str, name: &str, action: Option<Action>) -> Value {
    let mut spec = json!({"policyName": name});
    match action {
        Some(Action::Warn) => spec["validationActions"] = json!(["Warn", "Audit"]),
        Some(Action::Deny) => spec["validationActions"] = json!(["Deny", "Audit"]),
        None => {}
    }
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": format!("{what}AdmissionPolicyBinding"),
        "metadata": {"name": name, "labels": {"app.kubernetes.io/name": "plumb"}},
        "spec": spec,
    })
}
