//! `AdmissionReview` (admission.k8s.io/v1), as far as plumb reads and writes it.
//!
//! `kube::core::admission` reads `object` into a tree; the policy wants the text, and reading it
//! twice costs more than judging it. So `object` and `oldObject` stay text here.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The `apiVersion` that is understood.
pub const API_VERSION: &str = "admission.k8s.io/v1";

/// A review as the API server sends it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Review<'a> {
    /// [`API_VERSION`].
    pub api_version: String,
    /// `AdmissionReview`.
    pub kind: String,
    /// What is asked.
    #[serde(borrow)]
    pub request: Option<Request<'a>>,
}

/// What is asked.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request<'a> {
    /// Names the request; the answer repeats it.
    pub uid: String,
    /// The kind of `object`.
    #[serde(default)]
    pub kind: GroupVersionKind,
    /// `status`, or empty.
    #[serde(default)]
    pub sub_resource: String,
    /// Empty for what is created with a generated name.
    #[serde(default)]
    pub name: String,
    /// Empty for cluster-scoped kinds.
    #[serde(default)]
    pub namespace: String,
    /// `CREATE`, `UPDATE`, `DELETE` or `CONNECT`.
    pub operation: String,
    /// Who asks.
    #[serde(default)]
    pub user_info: UserInfo,
    /// Whether nothing will be stored.
    #[serde(default)]
    pub dry_run: Option<bool>,
    /// The object as it would be stored.
    #[serde(borrow, default)]
    pub object: Option<&'a RawValue>,
    /// The object as it is stored.
    #[serde(borrow, default)]
    pub old_object: Option<&'a RawValue>,
}

/// A kind.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct GroupVersionKind {
    /// API group; empty for the core group.
    pub group: String,
    /// Version.
    pub version: String,
    /// Kind.
    pub kind: String,
}

/// Who asks.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct UserInfo {
    /// The user's name.
    pub username: String,
}

impl Request<'_> {
    /// The object's text; nothing for `null`.
    pub fn object(&self) -> Option<&str> {
        present(self.object)
    }

    /// The stored object's text; nothing for `null`.
    pub fn old_object(&self) -> Option<&str> {
        present(self.old_object)
    }
}

fn present(value: Option<&RawValue>) -> Option<&str> {
    value.map(RawValue::get).filter(|text| *text != "null")
}

/// The answer as the API server wants it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    api_version: &'static str,
    kind: &'static str,
    response: Response,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    /// The request's.
    pub uid: String,
    /// Whether the write goes on.
    pub allowed: bool,
    /// Why not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// `JSONPatch`, where there is a patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch_type: Option<&'static str>,
    /// RFC 6902, base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    /// For the user who writes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// For the audit log; the API server puts the webhook's name before each key.
    #[serde(skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    pub audit_annotations: std::collections::BTreeMap<&'static str, String>,
}

/// Why a write is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Status {
    /// HTTP status.
    pub code: u16,
    /// One sentence.
    pub message: String,
    /// A `metav1.StatusReason`.
    pub reason: &'static str,
}

impl Response {
    /// The write goes on as it is.
    pub fn allowed(uid: impl Into<String>) -> Self {
        Self {
            uid: uid.into(),
            allowed: true,
            status: None,
            patch_type: None,
            patch: None,
            warnings: Vec::new(),
            audit_annotations: std::collections::BTreeMap::new(),
        }
    }

    /// The write is refused.
    #[must_use]
    pub fn denied(self, code: u16, reason: &'static str, message: String) -> Self {
        Self { allowed: false, status: Some(Status { code, message, reason }), ..self }
    }

    /// The write goes on, changed by a JSON Patch.
    #[must_use]
    pub fn patched(self, patch: &str) -> Self {
        Self { patch_type: Some("JSONPatch"), patch: Some(STANDARD.encode(patch)), ..self }
    }

    /// The whole answer.
    pub fn into_answer(self) -> Answer {
        Answer { api_version: API_VERSION, kind: "AdmissionReview", response: self }
    }
}
