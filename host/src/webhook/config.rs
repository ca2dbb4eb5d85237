//! What the webhook is set to: the `webhook` section of the settings file.
//!
//! ```yaml
//! apiVersion: plumb.dev/v1alpha1
//! kind: Settings
//! rules: []                 # as everywhere
//! webhook:
//!   deny: [observed-generation-ahead]
//!   onError: allow
//!   deadline: 2s
//! ```

use std::time::Duration;

use serde::Deserialize;

use crate::engine::Policy;

/// The section.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct WebhookSection {
    /// Rules whose findings refuse a write at `/validate`; `*` at the end stands for any text.
    pub deny: Vec<String>,
    /// What an evaluation that failed answers.
    pub on_error: OnError,
    /// How long an evaluation may take, waiting included; below the `timeoutSeconds` of the
    /// webhook's registration.
    #[serde(deserialize_with = "duration")]
    pub deadline: Duration,
    /// Whether findings become warnings for the user who writes.
    pub warnings: bool,
}

impl Default for WebhookSection {
    fn default() -> Self {
        Self {
            deny: Vec::new(),
            on_error: OnError::Allow,
            deadline: Duration::from_secs(2),
            warnings: true,
        }
    }
}

/// What an evaluation that failed answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnError {
    /// The write goes on, with a warning.
    #[default]
    Allow,
    /// The write is refused.
    Deny,
}

/// All that an evaluation is set to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Config {
    /// The settings for the policy, JSON.
    pub settings: String,
    /// The webhook's own.
    pub webhook: WebhookSection,
}

impl Config {
    /// The configuration in a settings document, found right by `policy`.
    ///
    /// # Errors
    /// What is wrong, one line for each fault, with its place.
    pub fn read(json: &str, policy: &Policy) -> Result<Self, Vec<String>> {
        if json.trim().is_empty() {
            return Ok(Self::default());
        }
        let mut document: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(json).map_err(|error| vec![error.to_string()])?;
        let webhook = match document.remove("webhook") {
            Some(section) => serde_path_to_error::deserialize(section).map_err(|error| {
                let path = error.path().to_string();
                vec![format!("webhook.{path}: {}", error.inner())]
            })?,
            None => WebhookSection::default(),
        };
        let settings = serde_json::Value::Object(document).to_string();
        let faults = policy.validate(&settings).map_err(|error| vec![error.to_string()])?;
        if !faults.is_empty() {
            return Err(faults
                .iter()
                .map(|note| format!("{}: {}", note.path, note.message))
                .collect());
        }
        let config = Self { settings, webhook };
        let unknown = config.unknown_rules(policy).map_err(|error| vec![error.to_string()])?;
        if unknown.is_empty() {
            return Ok(config);
        }
        Err(unknown
            .iter()
            .map(|(index, id)| format!("webhook.deny[{index}]: `{id}` is no rule of this policy"))
            .collect())
    }

    fn unknown_rules(&self, policy: &Policy) -> Result<Vec<(usize, String)>, crate::engine::Error> {
        if self.webhook.deny.is_empty() {
            return Ok(Vec::new());
        }
        let rules = policy.rules()?;
        let unknown = self
            .webhook
            .deny
            .iter()
            .enumerate()
            .filter(|(_, pattern)| !rules.iter().any(|rule| matches(pattern, &rule.id)));
        Ok(unknown.map(|(index, id)| (index, id.clone())).collect())
    }
}

impl WebhookSection {
    /// Whether findings of this rule refuse a write.
    pub fn denies(&self, rule: &str) -> bool {
        self.deny.iter().any(|pattern| matches(pattern, rule))
    }
}

fn matches(pattern: &str, id: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => id.starts_with(prefix),
        None => pattern == id,
    }
}

fn duration<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    let span: jiff::SignedDuration = text
        .parse()
        .map_err(|_| serde::de::Error::custom(format!("`{text}` is no duration such as 2s")))?;
    Duration::try_from(span)
        .ok()
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| serde::de::Error::custom(format!("`{text}` is not above zero")))
}
