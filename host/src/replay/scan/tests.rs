use super::*;

#[test]
fn the_names_of_times_are_sorted() {
    assert!(PAST_TIMES.is_sorted());
}

#[test]
fn an_object_is_read_in_one_pass() {
    let facts = Facts::read(
        r#"{
            "apiVersion": "example.com/v1", "kind": "App", "spec": {
                "sourceRef": {"kind": "Source", "name": "a", "namespace": "other"},
                "dependsOn": [{"name": "b"}], "containers": [{"name": "c", "env": []}],
                "startTime": "2030-01-01T00:00:00Z", "name": {"kind": 5, "name": ["x"]}
            },
            "metadata": {
                "name": "app", "namespace": "default", "uid": "u", "resourceVersion": "7",
                "creationTimestamp": "2026-01-01T00:00:00Z",
                "deletionTimestamp": "2031-01-01T00:00:00Z",
                "managedFields": [{"time": "2026-01-02T00:00:00Z", "fieldsV1": {"f:a": {}}}],
                "ownerReferences": [{"apiVersion": "v1", "kind": "Owner", "name": "o"}],
                "labels": {"kind": "Label", "name": "l"}
            },
            "status": {"notAfter": "2032-01-01T00:00:00Z", "chart": "charts/default-app",
                "scalerName": "scaler", "message": "all / is well", "image": "Example.com/app:1",
                "conditions": [
                {"type": "Ready", "lastTransitionTime": "2026-01-03T01:00:00+01:00"},
                {"type": "Bad", "lastTransitionTime": "yesterday"}
            ]}
        }"#,
    )
    .unwrap();
    let reference = |kind: &str, namespace: &str, name: &str| Reference {
        kind: kind.to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    };
    assert_eq!(
        facts,
        Facts {
            api_version: "example.com/v1".to_owned(),
            kind: "App".to_owned(),
            namespace: "default".to_owned(),
            name: "app".to_owned(),
            uid: "u".to_owned(),
            resource_version: "7".to_owned(),
            references: vec![
                reference("", "", "b"),
                reference("", "", "scaler"),
                reference("", "charts", "default-app"),
                reference("Owner", "", "o"),
                reference("Source", "other", "a"),
            ],
            newest: Some("2026-01-03T00:00:00Z".parse().unwrap()),
        }
    );
    assert_eq!(facts.group(), "example.com");
}

#[test]
fn odd_types_are_no_obstacle() {
    let odd = r#"{"apiVersion": 1, "kind": [], "metadata": {"name": {}, "uid": null, "managedFields": "x"}, "status": 7}"#;
    assert_eq!(Facts::read(odd).unwrap(), Facts::default());
    assert_eq!(Facts::read(r#"{"metadata": "x"}"#).unwrap(), Facts::default());
    assert!(Facts::read("[]").is_err());
}
