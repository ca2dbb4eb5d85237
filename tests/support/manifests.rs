//! Renders what `deploy/` holds, and reads it as the API server does.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use gotmpl::{Template, Value as Data};
use k8s_openapi::api::admissionregistration::v1 as admission;
use k8s_openapi::api::{apps, core, networking, policy, rbac};
use k8s_openapi::serde::Serialize;
use k8s_openapi::serde::de::DeserializeOwned;
use serde_json::{Value, json};

type Result<T> = std::result::Result<T, String>;

/// The documents of a YAML stream.
///
/// # Errors
/// It is no YAML.
pub fn read(yaml: &str) -> Result<Vec<Value>> {
    let documents: Vec<Value> =
        serde_saphyr::from_multiple(yaml).map_err(|error| format!("{error}\n{yaml}"))?;
    Ok(documents.into_iter().filter(|document| !document.is_null()).collect())
}

fn file(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// What a kustomization makes. It knows what those of this repository use: `resources`, `patches`
/// by file, `components`, `configMapGenerator`.
///
/// # Errors
/// A file is missing or wrong, or a patch finds nothing.
pub fn kustomize(folder: &Path) -> Result<Vec<Value>> {
    let mut made = Vec::new();
    apply(folder, &mut made)?;
    Ok(made)
}

fn apply(folder: &Path, made: &mut Vec<Value>) -> Result<()> {
    const KNOWN: [&str; 7] = [
        "apiVersion",
        "kind",
        "namespace",
        "resources",
        "patches",
        "components",
        "configMapGenerator",
    ];
    let text = file(&folder.join("kustomization.yaml"))?;
    let kustomization = read(&text)?.pop().unwrap_or_default();
    if let Some(key) = kustomization
        .as_object()
        .and_then(|all| all.keys().find(|key| !KNOWN.contains(&key.as_str())))
    {
        return Err(format!("{}: `{key}` is not known here", folder.display()));
    }
    let list = |key: &str| kustomization[key].as_array().cloned().unwrap_or_default();
    for resource in list("resources") {
        let path = folder.join(resource.as_str().unwrap_or_default());
        if path.is_dir() {
            apply(&path, made)?;
        } else {
            made.extend(read(&file(&path)?)?);
        }
    }
    for generator in list("configMapGenerator") {
        let mut data = BTreeMap::new();
        for name in generator["files"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            data.insert(name.to_owned(), file(&folder.join(name))?);
        }
        made.push(json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": data,
            "metadata": {"name": generator["name"], "labels": generator["options"]["labels"],
                "namespace": "plumb-system"},
        }));
    }
    for component in list("components") {
        apply(&folder.join(component.as_str().unwrap_or_default()), made)?;
    }
    for patch in list("patches") {
        let (kind, name) = (&patch["target"]["kind"], &patch["target"]["name"]);
        let text = file(&folder.join(patch["path"].as_str().unwrap_or_default()))?;
        let operations: json_patch::Patch =
            serde_saphyr::from_str(&text).map_err(|error| error.to_string())?;
        let target = made
            .iter_mut()
            .find(|one| one["kind"] == *kind && one["metadata"]["name"] == *name)
            .ok_or_else(|| format!("there is no {kind} {name} to patch"))?;
        json_patch::patch(target, &operations)
            .map_err(|error| format!("{kind} {name}: {error}"))?;
    }
    Ok(())
}

/// What a Helm chart makes of its values with `values` on top, in the namespace `plumb-system`.
///
/// # Errors
/// A template is wrong, or what it makes is no YAML.
pub fn helm(chart: &Path, release: &str, values: &Value) -> Result<Vec<Value>> {
    let meta = read(&file(&chart.join("Chart.yaml"))?)?.pop().unwrap_or_default();
    let mut all = read(&file(&chart.join("values.yaml"))?)?.pop().unwrap_or_default();
    merge(&mut all, values);
    let data = json!({
        "Values": all,
        "Release": {"Name": release, "Namespace": "plumb-system", "Service": "Helm"},
        "Chart": {"Name": meta["name"], "Version": meta["version"], "AppVersion": meta["appVersion"]},
    });
    let data = gotmpl::to_value(&data).map_err(|error| error.to_string())?;
    let partials: Arc<str> = file(&chart.join("templates/_labels.tpl"))?.into();
    let mut names: Vec<_> = fs::read_dir(chart.join("templates"))
        .map_err(|error| error.to_string())?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "yaml" || end == "txt"))
        .collect();
    names.sort();
    let mut made = Vec::new();
    for path in names {
        // `.Files.Get` is a method, which the engine has no values for.
        let text = file(&path)?.replace(".Files.Get ", "file ");
        let text = template(chart, Some(Arc::clone(&partials)))
            .parse(&partials)
            .and_then(|parsed| parsed.parse(&text))
            .and_then(|parsed| parsed.execute_to_string(&data))
            .map_err(|error| format!("{}: {error}", path.display()))?;
        if text.contains("<no value>") || text.contains("<nil>") {
            return Err(format!("{}: a value is missing\n{text}", path.display()));
        }
        if path.extension().is_some_and(|end| end == "yaml") {
            made.extend(read(&text).map_err(|error| format!("{}: {error}", path.display()))?);
        }
    }
    Ok(made)
}

/// `over` on top of `values`, as Helm does it: maps are merged, all else is replaced.
fn merge(values: &mut Value, over: &Value) {
    match (values, over) {
        (Value::Object(values), Value::Object(over)) => {
            for (key, value) in over {
                merge(values.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (values, over) => *values = over.clone(),
    }
}

/// The functions that Helm adds to Go's templates, as far as the chart uses them.
fn template(chart: &Path, partials: Option<Arc<str>>) -> Template {
    let folder = chart.to_owned();
    let text = |value: Option<&Data>| value.map(ToString::to_string).unwrap_or_default();
    let string = |text: String| Ok(Data::String(text.into()));
    let mut template = Template::new("chart")
        .func("quote", move |args| string(json!(text(args.first())).to_string()))
        .func("int", |args| Ok(Data::Int(args.first().and_then(Data::as_int).unwrap_or(0))))
        .func("default", |args| match args {
            [other, value] if !gotmpl::is_true(value) => Ok(other.clone()),
            [_, value] => Ok(value.clone()),
            _ => Ok(Data::Nil),
        })
        .func("nindent", move |args| {
            let indent = args.first().and_then(Data::as_int).unwrap_or(0);
            let indent = " ".repeat(usize::try_from(indent).unwrap_or(0));
            let lines = text(args.get(1)).replace('\n', &format!("\n{indent}"));
            string(format!("\n{indent}{lines}"))
        })
        .func("toYaml", move |args| {
            let json = args.first().map(plain).unwrap_or_default().to_string();
            let yaml = plumb_host::yaml::from_json(&json).unwrap_or_default();
            string(yaml.trim_end().to_owned())
        })
        .func("file", move |args| {
            string(fs::read_to_string(folder.join(text(args.first()))).unwrap_or_default())
        });
    if let Some(partials) = partials {
        let chart = chart.to_owned();
        template = template.func("include", move |args| {
            let name = text(args.first());
            let inner = self::template(&chart, None).parse(&partials)?;
            let made =
                inner.execute_template_to_string(&name, args.get(1).unwrap_or(&Data::Nil))?;
            Ok(Data::String(made.into()))
        });
    }
    template
}

fn plain(value: &Data) -> Value {
    match value {
        Data::Bool(value) => json!(value),
        Data::Int(value) => json!(value),
        Data::Uint(value) => json!(value),
        Data::Float(value) => json!(value),
        Data::String(text) => json!(&**text),
        Data::List(items) => items.iter().map(plain).collect(),
        Data::Map(members) => {
            members.iter().map(|(key, value)| ((**key).to_owned(), plain(value))).collect()
        }
        _ => Value::Null,
    }
}

/// Whether the API server would take a document: it is read into Kubernetes' own type, and written
/// again. Objects of other groups are only looked at from outside.
///
/// # Errors
/// A field is unknown, missing or of another type.
pub fn typed(document: &Value) -> Result<()> {
    let kind = document["kind"].as_str().unwrap_or_default();
    let version = document["apiVersion"].as_str().unwrap_or_default();
    if document["metadata"]["name"].as_str().is_none_or(str::is_empty) {
        return Err(format!("a {kind} has no name"));
    }
    match (version, kind) {
        ("v1", "Namespace") => same::<core::v1::Namespace>(document),
        ("v1", "ServiceAccount") => same::<core::v1::ServiceAccount>(document),
        ("v1", "ConfigMap") => same::<core::v1::ConfigMap>(document),
        ("v1", "Service") => same::<core::v1::Service>(document),
        ("apps/v1", "Deployment") => same::<apps::v1::Deployment>(document),
        ("policy/v1", "PodDisruptionBudget") => same::<policy::v1::PodDisruptionBudget>(document),
        ("networking.k8s.io/v1", "NetworkPolicy") => {
            same::<networking::v1::NetworkPolicy>(document)
        }
        ("rbac.authorization.k8s.io/v1", "ClusterRole") => same::<rbac::v1::ClusterRole>(document),
        ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding") => {
            same::<rbac::v1::ClusterRoleBinding>(document)
        }
        ("admissionregistration.k8s.io/v1", _) => match kind {
            "MutatingWebhookConfiguration" => {
                same::<admission::MutatingWebhookConfiguration>(document)
            }
            "ValidatingWebhookConfiguration" => {
                same::<admission::ValidatingWebhookConfiguration>(document)
            }
            "MutatingAdmissionPolicy" => same::<admission::MutatingAdmissionPolicy>(document),
            "MutatingAdmissionPolicyBinding" => {
                same::<admission::MutatingAdmissionPolicyBinding>(document)
            }
            "ValidatingAdmissionPolicy" => same::<admission::ValidatingAdmissionPolicy>(document),
            "ValidatingAdmissionPolicyBinding" => {
                same::<admission::ValidatingAdmissionPolicyBinding>(document)
            }
            other => Err(format!("`{other}` is no kind of {version}")),
        },
        (version, _) if version.contains('.') && document["spec"].is_object() => Ok(()),
        _ => Err(format!("`{version} {kind}` is not known here")),
    }
}

fn same<T: Serialize + DeserializeOwned>(document: &Value) -> Result<()> {
    let kind = &document["kind"];
    let read: T =
        serde_json::from_value(document.clone()).map_err(|error| format!("{kind}: {error}"))?;
    let written = serde_json::to_value(read).map_err(|error| format!("{kind}: {error}"))?;
    match difference(document, &written, "") {
        None => Ok(()),
        Some(place) => Err(format!("{kind} {}: {place} is no field", document["metadata"]["name"])),
    }
}

/// The first place of `left` that `right` does not have.
fn difference(left: &Value, right: &Value, at: &str) -> Option<String> {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => left.iter().find_map(|(key, value)| {
            let at = format!("{at}/{key}");
            right.get(key).map_or(Some(at.clone()), |found| difference(value, found, &at))
        }),
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            (0..).zip(left.iter().zip(right)).find_map(|(index, (left, right)): (usize, _)| {
                difference(left, right, &format!("{at}/{index}"))
            })
        }
        (left, right) if left == right => None,
        _ => Some(at.to_owned()),
    }
}
