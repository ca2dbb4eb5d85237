//! The document resolved: keys and sources as indices, times as milliseconds since the start, each
//! event with the fields that belong to it.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use plumb_queue::{Backoff, Flavour, Key, Millis, Priority, Runtime, Settings};

use crate::finding::Fault;
use crate::time::Time;
use crate::trace::document::{Document, FlavourName, QueueSpec, RuntimeName, StatusSpec};
use crate::trace::event::{Event, Names, attribute, depends, in_order, learnt_sources, resolve};
use crate::trace::scalar::{Moment, Span};

/// The most keys that one history may name.
pub const MOST_KEYS: usize = 256;

/// How long a ready key may wait while others are served, unless the document says so: longer than
/// a long run of the one worker, shorter than what anybody would accept.
const PATIENCE: Millis = 10 * 60 * 1000;

/// An index into [`History::sources`].
pub type SourceId = usize;

/// The document resolved.
#[derive(Debug)]
pub struct History {
    /// Which queue.
    pub flavour: Flavour,
    /// How it was set up.
    pub settings: Settings,
    /// How many workers there are, if known.
    pub workers: Option<u32>,
    /// How long a ready key may wait while others are served.
    pub patience: Millis,
    /// Keys are handed out in the order that the state machine knows.
    pub is_ordered: bool,
    /// Not every event was recorded.
    pub is_partial: bool,
    /// What time it is at zero, if known.
    pub zero: Option<Time>,
    /// Until when nothing more happened.
    pub end: Option<Millis>,
    /// What the controller reads.
    pub sources: Vec<Source>,
    /// What it reconciles, by key.
    pub objects: Vec<Object>,
    /// What happened.
    pub events: Vec<Event>,
}

/// What the controller reads.
#[derive(Debug)]
pub struct Source {
    /// Its name.
    pub name: String,
    /// Its revision at the start.
    pub revision: Option<String>,
    /// Each revision has to be seen.
    pub every_revision: bool,
    /// Its changes are delivered as events.
    pub is_watched: bool,
}

/// One key at the start.
#[derive(Debug)]
pub struct Object {
    /// The key.
    pub key: String,
    /// What it depends on.
    pub sources: Vec<SourceId>,
    /// It has to be reconciled at least this often.
    pub interval: Option<Millis>,
    /// It has to be reconciled at or after this time.
    pub due: Option<i64>,
    /// `metadata.generation`.
    pub generation: Option<i64>,
    /// The token of a request.
    pub request: Option<String>,
    /// Suspended or paused.
    pub suspended: bool,
    /// Its status.
    pub status: StatusSpec,
    /// It has an entry.
    pub is_ready: bool,
    /// It has a timer.
    pub timer: Option<Millis>,
    /// The priority of its entry.
    pub priority: Priority,
}

impl History {
    /// The history in `document`.
    ///
    /// # Errors
    /// A field that has no meaning where it stands, or lacks where it is needed; more keys than
    /// [`MOST_KEYS`].
    pub fn read(document: Document) -> Result<Self, Fault> {
        if document.api_version != "plumb.dev/v1alpha1" {
            let message =
                format!("apiVersion: `{}` is not `plumb.dev/v1alpha1`", document.api_version);
            return Err(Fault::Unsupported(message));
        }
        if document.kind != "QueueTrace" {
            let message = format!("kind: `{}` is not `QueueTrace`", document.kind);
            return Err(Fault::Malformed(message));
        }
        let spec = document.spec;
        let (flavour, settings) = queue(&spec.queue)?;
        let mut names = Names::default();
        let mut sources = Vec::new();
        for source in spec.sources {
            names.source(&source.name);
            sources.push(Source {
                name: source.name,
                revision: source.revision,
                every_revision: source.every_revision,
                is_watched: source.watched,
            });
        }
        if names.sources.len() != sources.len() {
            return Err(Fault::Malformed("spec.sources: a name appears twice".to_string()));
        }
        for object in &spec.objects {
            names.key(&object.key);
        }
        if names.keys.len() != spec.objects.len() {
            return Err(Fault::Malformed("spec.objects: a key appears twice".to_string()));
        }
        for event in &spec.events {
            event.key.iter().for_each(|key| names.key(key));
            event.source.iter().for_each(|source| names.source(source));
        }
        if names.keys.len() > MOST_KEYS {
            let message = format!(
                "the history names {} keys, but at most {MOST_KEYS} are read: split it",
                names.keys.len()
            );
            return Err(Fault::Unsupported(message));
        }
        for name in in_order(&names.sources).into_iter().skip(sources.len()) {
            sources.push(Source { name, revision: None, every_revision: false, is_watched: true });
        }
        let zero = match &spec.start {
            Some(text) => Some(Time::parse(text).ok_or_else(|| {
                Fault::Malformed(format!("spec.start: `{text}` is not a time in RFC 3339"))
            })?),
            None => spec.events.iter().find_map(|event| match event.at {
                Some(Moment::On(time)) => Some(time),
                _ => None,
            }),
        };
        let mut events = Vec::with_capacity(spec.events.len());
        for (index, event) in spec.events.into_iter().enumerate() {
            let event = resolve(event, &names, zero)
                .map_err(|message| Fault::Malformed(format!("event {index}: {message}")))?;
            events.push(event);
        }
        attribute(&mut events);
        let learnt = learnt_sources(&events);
        let mut objects = Vec::new();
        for spec in spec.objects {
            let place = format!("spec.objects[key={}]", spec.key);
            let fault = |field: &str, message: String| {
                Fault::Malformed(format!("{place}.{field}: {message}"))
            };
            let named = match spec.sources {
                Some(list) => {
                    let mut ids = Vec::new();
                    for name in list {
                        let id = names.sources.get(&name).copied();
                        ids.push(id.ok_or_else(|| {
                            fault("sources", format!("`{name}` is not in spec.sources"))
                        })?);
                    }
                    Some(ids)
                }
                None => None,
            };
            let index = objects.len();
            let moment = |moment: Option<Moment>, field| match moment {
                Some(moment) => millis(moment, zero).map(Some).map_err(|m| fault(field, m)),
                None => Ok(None),
            };
            let due = moment(spec.due, "due")?;
            let timer = moment(spec.queue.due, "queue.due")?;
            if spec.queue.ready && timer.is_some() && flavour != Flavour::Classic {
                let message =
                    format!("the {flavour} queue holds one entry per key: either ready or waiting");
                return Err(fault("queue", message));
            }
            objects.push(Object {
                key: spec.key,
                sources: named.unwrap_or_else(|| depends(index, &names, &learnt)),
                interval: spec
                    .interval
                    .map(positive)
                    .transpose()
                    .map_err(|m| fault("interval", m))?,
                due,
                generation: spec.generation,
                request: spec.request,
                suspended: spec.suspended,
                status: spec.status,
                is_ready: spec.queue.ready,
                timer: timer.map(|at| Millis::try_from(at).unwrap_or(0)),
                priority: spec.queue.priority,
            });
        }
        for key in in_order(&names.keys).into_iter().skip(objects.len()) {
            let index = objects.len();
            objects.push(Object {
                key,
                sources: depends(index, &names, &learnt),
                interval: None,
                due: None,
                generation: None,
                request: None,
                suspended: false,
                status: StatusSpec::default(),
                is_ready: false,
                timer: None,
                priority: 0,
            });
        }
        let end = match spec.end {
            Some(end) => {
                Some(millis(end, zero).map_err(|m| Fault::Malformed(format!("spec.end: {m}")))?)
            }
            None => None,
        };
        Ok(Self {
            flavour,
            settings,
            workers: spec.queue.workers,
            patience: match spec.queue.patience {
                Some(span) => positive(span)
                    .map_err(|m| Fault::Malformed(format!("spec.queue.patience: {m}")))?,
                None => PATIENCE,
            },
            is_ordered: !spec.partial && has_known_order(flavour, spec.queue.version.as_deref()),
            is_partial: spec.partial,
            zero,
            end: end.map(|at| Millis::try_from(at).unwrap_or(0)),
            sources,
            objects,
            events,
        })
    }

    /// A point in time as the document writes times: on the calendar if it can be, else since the
    /// start.
    pub fn moment(&self, at: Millis) -> String {
        let since = i64::try_from(at).unwrap_or(i64::MAX);
        match self.zero {
            Some(Time(zero)) => Time(zero.saturating_add(since)).text(),
            None => exact(since),
        }
    }

    /// The name of a source.
    pub fn source(&self, source: SourceId) -> &str {
        &self.sources[source].name
    }

    /// The key as text.
    pub fn key(&self, key: Key) -> &str {
        &self.objects[usize::from(key)].key
    }
}

/// Before v0.23 the opt-in priority queue put items whose timer had fired behind all others.
fn has_known_order(flavour: Flavour, version: Option<&str>) -> bool {
    if flavour != Flavour::Priority {
        return true;
    }
    let minor = version
        .and_then(|version| version.split_once("v0."))
        .map(|(_, rest)| rest.split('.').next().unwrap_or(rest))
        .and_then(|minor| minor.parse::<u32>().ok());
    minor.is_none_or(|minor| minor >= 23)
}

fn queue(spec: &QueueSpec) -> Result<(Flavour, Settings), Fault> {
    let fault = |field: &str, message: &str| -> Fault {
        Fault::Malformed(format!("spec.queue.{field}: {message}"))
    };
    let flavour = match spec.flavour {
        FlavourName::Classic => Flavour::Classic,
        FlavourName::Priority => Flavour::Priority,
        FlavourName::KubeRs => Flavour::KubeRs,
    };
    let runtime = match (flavour, spec.runtime) {
        (Flavour::KubeRs, None | Some(RuntimeName::KubeRs)) => Runtime::KubeRs,
        (Flavour::Classic, Some(RuntimeName::ClientGo)) => Runtime::ClientGo,
        (Flavour::Classic | Flavour::Priority, None | Some(RuntimeName::ControllerRuntime)) => {
            Runtime::ControllerRuntime
        }
        _ => {
            let message = "this runtime does not use this flavour: `controller-runtime` uses \
                           classic and priority, `client-go` classic, `kube-rs` kube-rs";
            return Err(fault("runtime", message));
        }
    };
    let mut settings = Settings::new(runtime);
    if let Some(limiter) = &spec.rate_limiter {
        let base = positive(limiter.base).map_err(|m: String| fault("rateLimiter.base", &m))?;
        let max = positive(limiter.max).map_err(|m: String| fault("rateLimiter.max", &m))?;
        settings.backoff = Backoff { base, max };
    }
    let is_kube_rs = flavour == Flavour::KubeRs;
    if let Some(debounce) = spec.debounce {
        if !is_kube_rs {
            return Err(fault("debounce", "only kube-rs has one"));
        }
        settings.debounce =
            Millis::try_from(debounce.0).map_err(|_| fault("debounce", "a negative span"))?;
    }
    match spec.error_policy.as_deref() {
        None => {}
        Some(_) if !is_kube_rs => return Err(fault("errorPolicy", "only kube-rs has one")),
        Some("await") => settings.on_error = None,
        Some(text) => {
            let span = Span::parse(text).and_then(|span| Millis::try_from(span.0).ok());
            settings.on_error =
                Some(span.ok_or_else(|| fault("errorPolicy", "neither a delay nor `await`"))?);
        }
    }
    Ok((flavour, settings))
}

/// A span to the millisecond, as Go reads it.
pub fn exact(millis: i64) -> String {
    let total = millis.unsigned_abs();
    let parts = [
        (total / 3_600_000, "h"),
        (total / 60_000 % 60, "m"),
        (total / 1_000 % 60, "s"),
        (total % 1_000, "ms"),
    ];
    let mut text = String::new();
    for (number, unit) in parts.into_iter().filter(|&(number, _)| number > 0) {
        text.push_str(&format!("{number}{unit}"));
    }
    match (text.is_empty(), millis < 0) {
        (true, _) => "0s".to_string(),
        (false, true) => format!("-{text}"),
        (false, false) => text,
    }
}

fn positive(span: Span) -> Result<Millis, String> {
    Millis::try_from(span.0)
        .ok()
        .filter(|&millis| millis > 0)
        .ok_or_else(|| "must be positive".to_string())
}

/// Milliseconds since the start.
pub(crate) fn millis(moment: Moment, zero: Option<Time>) -> Result<i64, String> {
    match (moment, zero) {
        (Moment::Since(millis), _) => Ok(millis),
        (Moment::On(time), Some(zero)) => Ok(time.since(zero)),
        (Moment::On(_), None) => Err("a time on the calendar needs `spec.start`".to_string()),
    }
}
