//! AdmissionReviews, as a webhook is sent them.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Contents, Defaults, Item, ItemKind, is_whole};

#[derive(Deserialize)]
struct Review<'a> {
    #[serde(borrow)]
    request: Option<Request<'a>>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    operation: Option<String>,
    sub_resource: Option<String>,
    kind: Option<GroupVersionKind>,
    #[serde(borrow)]
    object: Option<&'a RawValue>,
    #[serde(borrow)]
    old_object: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct GroupVersionKind {
    #[serde(default)]
    group: String,
    version: String,
    kind: String,
}

/// Adds what a review holds: the object as it would be, and the object as it is.
pub(super) fn read(contents: &mut Contents, json: &str, base: &str) {
    let review: Review<'_> = match serde_json::from_str(json) {
        Ok(review) => review,
        Err(error) => {
            let message = super::without_position(&error.to_string()).to_owned();
            return contents.problem(base, format!("not an AdmissionReview: {message}"));
        }
    };
    let Some(request) = review.request else {
        return match review.response {
            Some(_) => contents.skip(base, "an AdmissionReview that holds only a response"),
            None => contents.problem(base, "expected the request of an AdmissionReview"),
        };
    };
    if request.operation.as_deref() == Some("CONNECT") || !is_whole(request.sub_resource.as_deref())
    {
        let subresource = request.sub_resource.as_deref().unwrap_or("CONNECT");
        return contents
            .skip(base, format!("an AdmissionReview of {subresource}, not of an object"));
    }
    let type_ = request.kind.map(|kind| {
        let version = match kind.group.as_str() {
            "" => kind.version,
            group => format!("{group}/{}", kind.version),
        };
        (version, kind.kind)
    });
    let defaults = type_.as_ref().map(|(api_version, kind)| Defaults { api_version, kind });
    let object = format!("{base}/request/object");
    let old_object = format!("{base}/request/oldObject");
    match (request.object, request.old_object) {
        // A deletion that is asked for may not happen, so the history does not end with it.
        (None, Some(old)) => contents.value(old.get(), &old_object, defaults, 1),
        (Some(new), old) => {
            if let Some(old) = old {
                let first = contents.items.len();
                contents.value(old.get(), &old_object, defaults, 1);
                for item in &mut contents.items[first..] {
                    make_old(item);
                }
            }
            contents.value(new.get(), &object, defaults, 1);
        }
        (None, None) => contents.skip(base, "an AdmissionReview that holds no object"),
    }
}

fn make_old(item: &mut Item) {
    if let ItemKind::Object(object) = &mut item.kind {
        item.kind = ItemKind::OldObject(std::mem::take(object));
    }
}
