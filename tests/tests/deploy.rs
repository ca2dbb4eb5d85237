//! What `deploy/` holds is what `plumb webhook manifests` prints, and what a cluster takes.
#![expect(clippy::unwrap_used, reason = "a test panics where it fails")]

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use plumb_host::admission::kinds::{Choice, Kind};
use plumb_host::admission::policies::{self, Action};
use plumb_host::admission::sample;
use plumb_host::admission::webhooks::{self, Registration};
use plumb_host::engine::Policy;
use plumb_host::webhook::config::Config;
use plumb_host::yaml;
use plumb_tests::{generated, manifests};
use serde_json::{Value, json};

/// What stands in values.yaml above the part that is made.
const MARK: &str = "# All below this line is what that command prints.\n";

fn deploy() -> PathBuf {
    generated::root().join("deploy")
}

fn chart(values: &Value) -> Vec<Value> {
    manifests::helm(&deploy().join("chart/plumb"), "plumb", values)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn overlay(name: &str) -> Vec<Value> {
    manifests::kustomize(&deploy().join("kustomize/overlays").join(name))
        .unwrap_or_else(|error| panic!("{error}"))
}

fn kinds() -> Vec<Kind> {
    Choice::default().pick(&Policy::embedded().unwrap().profiles("").unwrap()).unwrap()
}

fn stream(documents: &[Value]) -> String {
    let texts: Vec<_> =
        documents.iter().map(|one| yaml::from_json(&one.to_string()).unwrap()).collect();
    texts.join("---\n")
}

fn one<'d>(documents: &'d [Value], kind: &str, name: &str) -> &'d Value {
    let found = documents.iter().find(|one| one["kind"] == kind && one["metadata"]["name"] == name);
    found.unwrap_or_else(|| panic!("there is no {kind} {name}"))
}

/// Every way to install it that the chart and the overlays offer.
fn variants() -> Vec<(&'static str, Vec<Value>)> {
    let all = json!({"monitoring": {
        "serviceMonitor": true, "prometheusRule": true, "dashboard": true,
        "labels": {"release": "prometheus"},
    }});
    let secret = json!({
        "certificate": "secret", "secretName": "own", "caBundle": "Cg==",
        "imagePullSecrets": [{"name": "registry"}], "priorityClassName": "high",
        "nodeSelector": {"a": "b"}, "tolerations": [{"key": "a", "operator": "Exists"}],
        "podLabels": {"team": "a"}, "podAnnotations": {"b": "c"}, "extraArgs": ["--threads=2"],
        "webhooks": {"failurePolicy": "Fail", "excludedNamespaces": ["kube-system"]},
    });
    let issuer = json!({"issuerRef": {"kind": "ClusterIssuer", "name": "ours"}, "replicas": 1,
        "networkPolicy": {"enabled": false}});
    vec![
        ("chart", chart(&json!({}))),
        ("chart, self-signed", chart(&json!({"certificate": "self-signed"}))),
        ("chart, secret", chart(&secret)),
        ("chart, issuer", chart(&issuer)),
        ("chart, monitoring", chart(&all)),
        ("overlay cert-manager", overlay("cert-manager")),
        ("overlay self-signed", overlay("self-signed")),
    ]
}

#[test]
fn the_registration_is_what_the_command_prints() {
    let kinds = kinds();
    let registration = Registration { manage: true, ..Registration::default() };
    let documents = webhooks::documents(&kinds, &registration);
    let base = [("webhooks.yaml".to_owned(), stream(&documents[..2]))];
    let rbac = [("rbac.yaml".to_owned(), stream(&documents[2..]))];
    let values = fs::read_to_string(deploy().join("chart/plumb/values.yaml")).unwrap();
    let (above, _) = values.split_once(MARK).unwrap();
    let made = json!({
        "mutating": webhooks::mutating(&kinds), "validating": webhooks::validating(&kinds),
    });
    let values = format!("{above}{MARK}{}", yaml::from_json(&made.to_string()).unwrap());
    for (folder, files) in [
        ("deploy/kustomize/base", &base),
        ("deploy/kustomize/overlays/self-signed", &rbac),
        ("deploy/chart/plumb", &[("values.yaml".to_owned(), values)]),
    ] {
        generated::check(folder, files, false).unwrap_or_else(|error| panic!("{error}"));
    }

    for (values, registration) in [
        (json!({"certificate": "self-signed"}), registration),
        (
            json!({}),
            Registration {
                inject_from: Some("plumb-system/plumb".into()),
                ..Registration::default()
            },
        ),
    ] {
        let rendered = chart(&values);
        for wanted in webhooks::documents(&kinds, &registration) {
            let name = wanted["metadata"]["name"].as_str().unwrap();
            let found = one(&rendered, wanted["kind"].as_str().unwrap(), name);
            for part in ["webhooks", "rules", "roleRef", "subjects"] {
                assert_eq!(found[part], wanted[part], "{part} of {}", wanted["kind"]);
            }
            let annotations = |one: &Value| one["metadata"]["annotations"].clone();
            assert_eq!(annotations(found), annotations(&wanted));
        }
    }
}

#[test]
fn every_object_is_one_that_a_cluster_takes() {
    for (variant, documents) in variants() {
        let mut names = BTreeSet::new();
        for document in &documents {
            manifests::typed(document).unwrap_or_else(|error| panic!("{variant}: {error}"));
            let name = (document["kind"].to_string(), document["metadata"]["name"].to_string());
            assert!(names.insert(name.clone()), "{variant}: {name:?} twice");
        }
    }
    let policy = Policy::embedded().unwrap();
    for kind in kinds() {
        let rules = sample::rules(&policy, "", &kind).unwrap();
        for document in policies::documents(&kind, &rules, Action::Warn).0 {
            manifests::typed(&document).unwrap_or_else(|error| panic!("{error}"));
        }
    }
}

#[test]
fn an_unknown_field_is_noticed() {
    let mut deployment = one(&overlay("cert-manager"), "Deployment", "plumb").clone();
    manifests::typed(&deployment).unwrap();
    deployment["spec"]["template"]["spec"]["containers"][0]["readOnlyRootFilesystem"] = true.into();
    let error = manifests::typed(&deployment).unwrap_err();
    assert!(error.contains("/containers/0/readOnlyRootFilesystem"), "{error}");
}

#[test]
fn it_runs_restricted_and_survives_a_drained_node() {
    for (variant, documents) in variants() {
        let deployment = one(&documents, "Deployment", "plumb");
        let pod = &deployment["spec"]["template"]["spec"];
        assert_eq!(pod["securityContext"]["runAsNonRoot"], true, "{variant}");
        assert_eq!(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault", "{variant}");
        assert!(pod["affinity"]["podAntiAffinity"].is_object(), "{variant}");
        let [container] = pod["containers"].as_array().unwrap().as_slice() else { panic!() };
        let security = &container["securityContext"];
        assert_eq!(security["readOnlyRootFilesystem"], true, "{variant}");
        assert_eq!(security["allowPrivilegeEscalation"], false, "{variant}");
        assert_eq!(security["capabilities"], json!({"drop": ["ALL"]}), "{variant}");

        let labels = &deployment["spec"]["template"]["metadata"]["labels"];
        let selected = |selector: &Value| {
            selector.as_object().unwrap().iter().all(|(key, value)| labels[key] == *value)
        };
        assert!(selected(&deployment["spec"]["selector"]["matchLabels"]), "{variant}");
        let service = one(&documents, "Service", "plumb");
        assert!(selected(&service["spec"]["selector"]), "{variant}");
        for port in service["spec"]["ports"].as_array().unwrap() {
            let ports = container["ports"].as_array().unwrap();
            assert!(ports.iter().any(|one| one["name"] == port["targetPort"]), "{variant}");
        }
        if deployment["spec"]["replicas"] != 1 {
            assert_eq!(deployment["spec"]["replicas"], 2, "{variant}");
            let budget = one(&documents, "PodDisruptionBudget", "plumb");
            assert!(selected(&budget["spec"]["selector"]["matchLabels"]), "{variant}");
        }
        let namespaced = |one: &&Value| one["metadata"]["namespace"].is_string();
        for object in documents.iter().filter(namespaced) {
            assert_eq!(object["metadata"]["namespace"], "plumb-system", "{variant}");
        }
    }
}

#[test]
fn only_the_self_signed_variants_may_do_anything() {
    for (variant, documents) in variants() {
        let pod = &one(&documents, "Deployment", "plumb")["spec"]["template"]["spec"];
        let roles: Vec<_> =
            documents.iter().filter(|one| one["kind"].as_str().unwrap().contains("Role")).collect();
        if !variant.contains("self-signed") {
            assert!(roles.is_empty(), "{variant}");
            assert_eq!(pod["automountServiceAccountToken"], false, "{variant}");
            continue;
        }
        assert_eq!(pod["automountServiceAccountToken"], true, "{variant}");
        let role = one(&documents, "ClusterRole", "plumb-webhook-configurations");
        let [rule] = role["rules"].as_array().unwrap().as_slice() else { panic!("{variant}") };
        assert_eq!(rule["verbs"], json!(["get", "patch"]), "{variant}");
        assert_eq!(rule["resourceNames"], json!(["plumb"]), "{variant}");
    }
}

#[test]
fn the_arguments_are_ones_that_plumb_takes_and_the_settings_too() {
    let policy = Policy::embedded().unwrap();
    for (variant, documents) in variants() {
        let pod = &one(&documents, "Deployment", "plumb")["spec"]["template"]["spec"];
        let arguments = pod["containers"][0]["args"].as_array().unwrap();
        let arguments = arguments.iter().map(|one| one.as_str().unwrap());
        let parsed =
            plumb_host::cli::command().try_get_matches_from(["plumb"].into_iter().chain(arguments));
        parsed.unwrap_or_else(|error| panic!("{variant}: {error}"));
        let settings = &one(&documents, "ConfigMap", "plumb")["data"]["plumb.yaml"];
        let settings = manifests::read(settings.as_str().unwrap()).unwrap().pop().unwrap();
        assert_eq!(settings["kind"], "Settings", "{variant}");
        Config::read(&settings.to_string(), &policy).unwrap_or_else(|faults| panic!("{faults:?}"));
    }
}

#[test]
fn chart_and_overlays_run_the_same() {
    for (values, name) in
        [(json!({}), "cert-manager"), (json!({"certificate": "self-signed"}), "self-signed")]
    {
        let (chart, overlay) = (chart(&values), overlay(name));
        let pod = |all: &[Value]| {
            let mut pod = one(all, "Deployment", "plumb")["spec"]["template"]["spec"].clone();
            // The chart's selectors know the release.
            pod["affinity"].take();
            pod["topologySpreadConstraints"].take();
            pod
        };
        assert_eq!(pod(&chart), {
            let mut pod = pod(&overlay);
            pod["containers"][0]["image"] = "ghcr.io/plumb-dev/plumb:0.1.0".into();
            pod
        });
        for (kind, part) in
            [("NetworkPolicy", "ingress"), ("NetworkPolicy", "egress"), ("Service", "ports")]
        {
            let spec = |all: &[Value]| one(all, kind, "plumb")["spec"][part].clone();
            assert_eq!(spec(&chart), spec(&overlay), "{part} of {kind}");
        }
    }
}

#[test]
fn alerts_and_dashboard_ask_for_metrics_that_there_are() {
    let files = deploy().join("chart/plumb/files");
    let documented = fs::read_to_string(generated::root().join("docs/webhook.md")).unwrap();
    let alerts = fs::read_to_string(files.join("alerts.yaml")).unwrap();
    let dashboard = fs::read_to_string(files.join("dashboard.json")).unwrap();
    let mut asked = BTreeSet::new();
    for text in [&alerts, &dashboard] {
        for (at, _) in text.match_indices("plumb_") {
            let rest = &text[at..];
            let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap();
            asked.insert(rest[..end].trim_end_matches("_bucket").to_owned());
        }
    }
    assert!(asked.len() >= 6, "{asked:?}");
    for name in asked {
        assert!(documented.contains(&format!("| `{name}` |")), "{name}");
    }

    // The plain manifests have the same ones.
    let component = deploy().join("kustomize/components/monitoring");
    let plain = manifests::kustomize(&component).unwrap();
    let alerts = manifests::read(&alerts).unwrap().pop().unwrap();
    assert_eq!(one(&plain, "PrometheusRule", "plumb")["spec"], alerts);
    assert_eq!(one(&plain, "ConfigMap", "plumb-dashboard")["data"]["plumb.json"], dashboard);
    let rendered = chart(&json!({"monitoring": {"prometheusRule": true, "dashboard": true}}));
    assert_eq!(one(&rendered, "PrometheusRule", "plumb")["spec"], alerts);
    let panels: Value = serde_json::from_str(&dashboard).unwrap();
    assert!(panels["panels"].as_array().unwrap().len() >= 6);
}

/// Every value of the chart is in its schema, and the other way round.
#[test]
fn the_schema_of_the_values_knows_each_of_them() {
    let chart = deploy().join("chart/plumb");
    let schema = fs::read_to_string(chart.join("values.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let values = fs::read_to_string(chart.join("values.yaml")).unwrap();
    let values = manifests::read(&values).unwrap().pop().unwrap();
    let keys = |value: &Value| -> BTreeSet<String> {
        value.as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect()
    };
    let mut known = keys(&schema["properties"]);
    known.remove("global");
    assert_eq!(keys(&values), known);
    for (name, schema) in schema["properties"].as_object().unwrap() {
        if schema["additionalProperties"] == false && name != "issuerRef" {
            assert_eq!(keys(&values[name]), keys(&schema["properties"]), "{name}");
        }
    }
    assert_eq!(schema["additionalProperties"], false);
}

/// Where kubectl is installed, it makes of each overlay what is tested here.
#[test]
fn kubectl_makes_the_same_of_the_overlays() {
    for name in ["cert-manager", "self-signed"] {
        let folder = deploy().join("kustomize/overlays").join(name);
        let Ok(output) = Command::new("kubectl").arg("kustomize").arg(&folder).output() else {
            eprintln!("skipped: there is no kubectl here");
            return;
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut found = manifests::read(&String::from_utf8(output.stdout).unwrap()).unwrap();
        let mut wanted = overlay(name);
        let key = |one: &Value| (one["kind"].to_string(), one["metadata"]["name"].to_string());
        found.sort_by_key(key);
        wanted.sort_by_key(key);
        assert_eq!(found, wanted, "{name}");
    }
}

/// Renders every variant into the folder that `PLUMB_RENDER` names, for other tools to check.
#[test]
fn variants_are_written_where_asked() {
    let Some(folder) = env::var_os("PLUMB_RENDER").map(PathBuf::from) else { return };
    fs::create_dir_all(&folder).unwrap();
    for (variant, documents) in variants() {
        let name = variant.replace([',', ' '], "-");
        fs::write(folder.join(format!("{name}.yaml")), stream(&documents)).unwrap();
    }
}

/// The files for other engines are YAML, and ask for doors that there are.
#[test]
fn examples_ask_for_doors_that_there_are() {
    let folder = deploy().join("examples");
    let read = |name: &str| {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        manifests::read(&text).unwrap().pop().unwrap()
    };
    let provider = read("gatekeeper/provider.yaml");
    assert_eq!(provider["spec"]["url"], "https://plumb.plumb-system.svc/gatekeeper");
    let (template, constraint) =
        (read("gatekeeper/template.yaml"), read("gatekeeper/constraint.yaml"));
    assert_eq!(template["spec"]["crd"]["spec"]["names"]["kind"], constraint["kind"]);
    assert!(template["spec"]["targets"][0]["rego"].as_str().unwrap().contains("\"plumb\""));
    let call = &read("kyverno/policy.yaml")["spec"]["rules"][0]["context"][0]["apiCall"];
    assert_eq!(call["service"]["url"], "https://plumb.plumb-system.svc/check");
    assert_eq!(call["data"], json!([{"key": "object", "value": "{{ request.object }}"}]));
}
