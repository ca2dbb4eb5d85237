//! Lines of the API server's audit log.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Contents, ItemKind, Metadata, is_object, is_whole};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event<'a> {
    stage: Option<String>,
    verb: Option<String>,
    #[serde(rename = "requestURI")]
    request_uri: Option<String>,
    object_ref: Option<ObjectReference>,
    response_status: Option<ResponseStatus>,
    #[serde(borrow)]
    request_object: Option<&'a RawValue>,
    #[serde(borrow)]
    response_object: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ObjectReference {
    subresource: Option<String>,
}

#[derive(Deserialize)]
struct ResponseStatus {
    code: Option<u16>,
}

/// The fields of a whole object.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    api_version: Option<String>,
    kind: Option<String>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
}

/// Adds the object that an audit event says was written, if it holds one.
pub(super) fn read(contents: &mut Contents, json: &str, base: &str) {
    let event: Event<'_> = match serde_json::from_str(json) {
        Ok(event) => event,
        Err(error) => {
            let message = super::without_position(&error.to_string()).to_owned();
            return contents.problem(base, format!("not an audit event: {message}"));
        }
    };
    if let Some(why) = no_write(&event) {
        return contents.skip(base, why);
    }
    let response = event.response_object.filter(|body| is_stored(body));
    let verb = event.verb.as_deref();
    // The body of a patch is a part of an object.
    let request = event
        .request_object
        .filter(|body| matches!(verb, Some("create" | "update")) && is_object_body(body));
    match (response, request) {
        (Some(response), _) => {
            let object = ItemKind::Object(response.get().to_owned());
            contents.push(&format!("{base}/responseObject"), object);
        }
        (None, Some(request)) if event.response_object.is_none() => {
            let object = ItemKind::Object(request.get().to_owned());
            contents.push(&format!("{base}/requestObject"), object);
        }
        _ => contents.skip(base, "an audit event that holds no whole object"),
    }
}

/// Why an event tells of no write to an object.
fn no_write(event: &Event<'_>) -> Option<&'static str> {
    if event.stage.as_deref() != Some("ResponseComplete") {
        return Some("an audit event of another stage than ResponseComplete");
    }
    if !matches!(event.verb.as_deref(), Some("create" | "update" | "patch" | "delete")) {
        return Some("an audit event of a read");
    }
    let code = event.response_status.as_ref().and_then(|status| status.code);
    if !code.is_some_and(|code| (200..300).contains(&code)) {
        return Some("an audit event of a request that failed");
    }
    if event.request_uri.as_deref().is_some_and(|uri| uri.contains("dryRun=All")) {
        return Some("an audit event of a dry run");
    }
    let subresource = event.object_ref.as_ref().and_then(|object| object.subresource.as_deref());
    if !is_whole(subresource) {
        return Some("an audit event of a subresource that is not the object");
    }
    None
}

fn is_object_body(body: &RawValue) -> bool {
    serde_json::from_str::<Body<'_>>(body.get()).is_ok_and(|body| {
        body.api_version.is_some()
            && body.kind.is_some_and(|kind| kind != "Status" && kind != "DeleteOptions")
            && is_object(body.metadata)
    })
}

/// Whether a response is an object that is stored: those of reviews such as `TokenReview` have no
/// uid.
fn is_stored(body: &RawValue) -> bool {
    is_object_body(body)
        && serde_json::from_str::<Body<'_>>(body.get())
            .ok()
            .and_then(|body| serde_json::from_str::<Metadata>(body.metadata?.get()).ok()?.uid)
            .is_some()
}
