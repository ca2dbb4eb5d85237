//! The registration of the webhook with the API server.

use serde::Serialize;
use serde_json::{Value, json};

use super::expression;
use super::kinds::Kind;

/// The configurations' name, where none is given.
pub const NAME: &str = "plumb";

/// How the API server reaches the webhook, and how it calls it.
#[derive(Debug, Clone)]
pub struct Registration {
    /// Name of both configurations.
    pub name: String,
    /// The webhook's own namespace: where its Service is, and what it is not asked about.
    pub namespace: String,
    /// The Service.
    pub service: String,
    /// A URL instead of the Service, without a path.
    pub url: Option<String>,
    /// What the API server trusts, base64 of PEM.
    pub ca_bundle: Option<String>,
    /// The `namespace/name` of the cert-manager Certificate whose authority is filled in.
    pub inject_from: Option<String>,
    /// Seconds that the API server waits.
    pub timeout_seconds: u8,
    /// `Ignore` or `Fail`.
    pub failure_policy: String,
    /// The permission to fill in the authority oneself.
    pub manage: bool,
}

impl Default for Registration {
    fn default() -> Self {
        Self {
            name: NAME.to_owned(),
            namespace: "plumb-system".to_owned(),
            service: NAME.to_owned(),
            url: None,
            ca_bundle: None,
            inject_from: None,
            timeout_seconds: 3,
            failure_policy: "Ignore".to_owned(),
            manage: false,
        }
    }
}

/// One entry of a configuration, but for what is the same in all: a kind, and when it is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Its name: full, as the API server wants it.
    pub name: String,
    /// What is written.
    pub rules: Vec<Rule>,
    /// When the webhook is asked.
    pub match_conditions: Vec<MatchCondition>,
}

/// What is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// Groups.
    pub api_groups: Vec<String>,
    /// Versions.
    pub api_versions: Vec<String>,
    /// Operations.
    pub operations: Vec<String>,
    /// Plural names with their subresource.
    pub resources: Vec<String>,
    /// `*`: in namespaces or not.
    pub scope: String,
}

/// When the webhook is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MatchCondition {
    /// Its name.
    pub name: String,
    /// CEL.
    pub expression: String,
}

/// Writes of the status of one kind. A status is never created and never deleted by itself.
pub fn rule(kind: &Kind) -> Rule {
    Rule {
        api_groups: vec![kind.group.clone()],
        api_versions: vec!["*".to_owned()],
        operations: vec!["UPDATE".to_owned()],
        resources: vec![format!("{}/status", kind.plural)],
        scope: "*".to_owned(),
    }
}

/// The entries of `/mutate`: the kinds of which something can be held, each asked only where a
/// condition is torn or is to be released.
pub fn mutating(kinds: &[Kind]) -> Vec<Entry> {
    let entries = kinds.iter().filter_map(|kind| {
        let (held, _) = expression::held(&kind.profile);
        let concerns: Vec<String> = held.iter().map(expression::Held::concerns).collect();
        (!concerns.is_empty()).then(|| Entry {
            name: name(kind, "hold"),
            rules: vec![rule(kind)],
            match_conditions: vec![MatchCondition {
                name: "torn-or-to-be-released".to_owned(),
                expression: concerns.join(" || "),
            }],
        })
    });
    entries.collect()
}

/// The entries of `/validate`: one for each group, asked only where the status changes.
pub fn validating(kinds: &[Kind]) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for kind in kinds {
        let rule = rule(kind);
        if let Some(entry) =
            entries.iter_mut().find(|entry| entry.rules[0].api_groups == rule.api_groups)
        {
            entry.rules[0].resources.extend(rule.resources);
            continue;
        }
        let group = if kind.group.is_empty() { "core" } else { &kind.group };
        entries.push(Entry {
            name: format!("judge.{group}.plumb.dev"),
            rules: vec![rule],
            match_conditions: vec![MatchCondition {
                name: "status-changes".to_owned(),
                expression:
                    "has(object.status) && (oldObject == null || !has(oldObject.status) || \
                             object.status != oldObject.status)"
                        .to_owned(),
            }],
        });
    }
    entries
}

fn name(kind: &Kind, what: &str) -> String {
    let group = if kind.group.is_empty() { "core" } else { &kind.group };
    format!("{what}.{}.{group}.plumb.dev", kind.plural)
}

/// All documents: both configurations, and the permission to manage them where it is asked for.
pub fn documents(kinds: &[Kind], registration: &Registration) -> Vec<Value> {
    let mut documents = Vec::new();
    let mutating = mutating(kinds);
    if !mutating.is_empty() {
        documents.push(configuration("Mutating", "/mutate", &mutating, registration));
    }
    documents.push(configuration("Validating", "/validate", &validating(kinds), registration));
    if registration.manage {
        documents.extend(permissions(registration, !mutating.is_empty()));
    }
    documents
}

fn configuration(what: &str, path: &str, entries: &[Entry], registration: &Registration) -> Value {
    let mut metadata = json!({
        "name": registration.name,
        "labels": {"app.kubernetes.io/name": NAME},
    });
    if let Some(certificate) = &registration.inject_from {
        metadata["annotations"] = json!({"cert-manager.io/inject-ca-from": certificate});
    }
    let webhooks: Vec<Value> = entries
        .iter()
        .map(|entry| {
            let mut webhook = json!({
                "name": entry.name,
                "admissionReviewVersions": ["v1"],
                "clientConfig": client(path, registration),
                "failurePolicy": registration.failure_policy,
                "matchConditions": entry.match_conditions,
                "matchPolicy": "Equivalent",
                "namespaceSelector": {"matchExpressions": [{
                    "key": "kubernetes.io/metadata.name",
                    "operator": "NotIn",
                    "values": [registration.namespace],
                }]},
            });
            if path == "/mutate" {
                webhook["reinvocationPolicy"] = json!("IfNeeded");
            }
            webhook["rules"] = json!(entry.rules);
            webhook["sideEffects"] = json!("None");
            webhook["timeoutSeconds"] = json!(registration.timeout_seconds);
            webhook
        })
        .collect();
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": format!("{what}WebhookConfiguration"),
        "metadata": metadata,
        "webhooks": webhooks,
    })
}

fn client(path: &str, registration: &Registration) -> Value {
    let mut client = match &registration.url {
        Some(url) => json!({"url": format!("{}{path}", url.trim_end_matches('/'))}),
        None => json!({"service": {
            "namespace": registration.namespace,
            "name": registration.service,
            "path": path,
            "port": 443,
        }}),
    };
    if let Some(bundle) = &registration.ca_bundle {
        client["caBundle"] = json!(bundle);
    }
    client
}

/// What `--manage-webhook-configuration` needs: to read and to patch these configurations alone.
fn permissions(registration: &Registration, mutates: bool) -> Vec<Value> {
    let name = format!("{}-webhook-configurations", registration.name);
    let mut resources = vec!["validatingwebhookconfigurations"];
    if mutates {
        resources.insert(0, "mutatingwebhookconfigurations");
    }
    let labels = json!({"app.kubernetes.io/name": NAME});
    vec![
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": name, "labels": labels},
            "rules": [{
                "apiGroups": ["admissionregistration.k8s.io"],
                "resources": resources,
                "resourceNames": [registration.name],
                "verbs": ["get", "patch"],
            }],
        }),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name, "labels": labels},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": name,
            },
            "subjects": [{
                "kind": "ServiceAccount",
                "name": registration.service,
                "namespace": registration.namespace,
            }],
        }),
    ]
}
