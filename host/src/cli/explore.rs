//! `plumb explore`

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use plumb_queue::Flavour;
use serde_json::{Value, json};

use super::policy::{PolicyArguments, SettingsArguments};
use super::{heading, say, say_error, say_note, width};
use crate::engine::{Action, Policy, Severity};
use crate::error::Error;
use crate::exit::Exit;
use crate::explore::{self, Decided, Exploration, Format, Limits, Scenario, explore, unmet};
use crate::input::{Document, ItemKind, Unreadable, locate, sources};
use crate::output::Verbosity;

/// Walks all interleavings of a scenario, and finds the shortest one that ends badly.
///
/// A scenario (`kind: Scenario`) tells what a controller watches, how events become keys in its
/// queue, what a pass does and returns, and what is owed. Within its bounds every order of events
/// is tried. What is found is printed step by step; a scenario that says what it expects is a test.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Files, folders, patterns, or `-`, with documents of kind Scenario.
    #[arg(required = true, value_name = "SCENARIO")]
    paths: Vec<String>,
    /// The queue; without it the one that the scenario names.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "QUEUE")]
    queue: Vec<QueueName>,
    /// How the result is written.
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    format: Format,
    /// Write what was found as a fixture of kind `QueueTrace`; several into a folder of this name.
    ///
    /// With one scenario and one queue this is a file, unless a folder of this name exists. In a
    /// folder each trace has the name of its scenario and queue. What is clean writes nothing.
    #[arg(long, value_name = "PATH", help_heading = heading::OUTPUT)]
    record: Option<PathBuf>,
    /// States at most.
    #[arg(long, value_name = "N", default_value_t = Limits::default().states, help_heading = heading::LIMITS)]
    max_states: usize,
    /// Steps at most.
    #[arg(long, value_name = "N", default_value_t = Limits::default().depth, help_heading = heading::LIMITS)]
    max_depth: usize,
    /// Time at most for each exploration, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, help_heading = heading::LIMITS)]
    timeout: u64,
    /// Go on after the first stuck state, to count them all.
    #[arg(long, help_heading = heading::LIMITS)]
    exhaustive: bool,
    #[command(flatten)]
    settings: SettingsArguments,
    #[command(flatten)]
    policy: PolicyArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum QueueName {
    /// client-go's work queue.
    Classic,
    /// controller-runtime's priority queue, its default since v0.23.
    Priority,
    /// kube-rs's scheduler.
    KubeRs,
    /// Each of them, one after the other.
    All,
}

impl QueueName {
    fn flavours(self) -> &'static [Flavour] {
        match self {
            Self::Classic => &[Flavour::Classic],
            Self::Priority => &[Flavour::Priority],
            Self::KubeRs => &[Flavour::KubeRs],
            Self::All => &[Flavour::Classic, Flavour::Priority, Flavour::KubeRs],
        }
    }
}

impl Arguments {
    pub(super) fn run(&self, verbosity: Verbosity) -> Result<Exit, Error> {
        let mut exit = Exit::Clean;
        let (sources, errors) = sources(&self.paths);
        let mut complain = |error: &Unreadable| {
            say_error(&format!("failed to read {error}"));
            exit = exit.max(Exit::Unreadable);
        };
        errors.iter().for_each(&mut complain);
        let mut scenarios = vec![];
        for source in sources {
            let documents = match source.open() {
                Ok(documents) => documents,
                Err(error) => {
                    complain(&error);
                    continue;
                }
            };
            for document in documents {
                match document {
                    Err(error) => complain(&error),
                    Ok(document) => match self.read(&document) {
                        Ok(found) => scenarios.extend(found),
                        Err(error) => complain(&error),
                    },
                }
            }
        }
        if scenarios.is_empty() && exit == Exit::Clean {
            let message = "there is no document of kind Scenario in what was given";
            return Err(Error::Usage(message.to_owned()));
        }
        let runs = scenarios.iter().flat_map(|scenario| {
            self.queues(scenario).into_iter().map(move |queue| (scenario, queue))
        });
        let runs: Vec<(&Scenario, Flavour)> = runs.collect();
        let mut policy = Asked { arguments: self, loaded: None };
        for (scenario, queue) in &runs {
            let exploration = self.explore(scenario, *queue, &mut policy)?;
            let expectation = scenario.expect.under(*queue);
            if !unmet(&exploration, &expectation).is_empty() {
                exit = exit.max(Exit::Findings);
            }
            say(&match self.format {
                Format::Human => {
                    explore::human(&exploration, &expectation, verbosity, width()) + "\n"
                }
                Format::Json if runs.len() == 1 => super::json(&explore::json(&exploration))?,
                Format::Json => {
                    let line = serde_json::to_string(&explore::json(&exploration));
                    line.map_err(|error| Error::stdout(error.into()))? + "\n"
                }
                Format::Mermaid => explore::mermaid(&exploration),
                Format::Svg => explore::svg(&exploration),
            })?;
            if let Some(path) = &self.record {
                policy.keep(path, runs.len() > 1, scenario, &exploration)?;
            }
        }
        Ok(exit)
    }

    /// The queues to explore a scenario under, each once.
    fn queues(&self, scenario: &Scenario) -> Vec<Flavour> {
        let mut queues = vec![];
        for queue in self.queue.iter().flat_map(|name| name.flavours()) {
            if !queues.contains(queue) {
                queues.push(*queue);
            }
        }
        if queues.is_empty() { vec![scenario.queue] } else { queues }
    }

    /// The scenarios of one document.
    fn read(&self, document: &Document) -> Result<Vec<Scenario>, Unreadable> {
        let mut scenarios = vec![];
        for item in &document.items {
            let ItemKind::Scenario(json) = &item.kind else { continue };
            let unreadable = |line: usize, message: String| Unreadable {
                input: document.input.clone(),
                document: Some(document.number),
                line: Some(line),
                message,
            };
            let value: Value = serde_json::from_str(json)
                .map_err(|error| unreadable(document.line, error.to_string()))?;
            let check = |scenario: Scenario| {
                for queue in self.queues(&scenario) {
                    explore::Model::new(&scenario, queue)?;
                }
                Ok(scenario)
            };
            let scenario = Scenario::from_json(&value).and_then(check).map_err(|error| {
                let pointer = format!("{}{}", item.base, pointer(&error.path));
                let at =
                    locate(document, &pointer).map_or(0, |at| at.key.unwrap_or(at.value).start);
                let lines = document.text[..at].matches('\n').count();
                unreadable(document.line + lines, error.to_string())
            })?;
            scenarios.push(scenario);
        }
        Ok(scenarios)
    }

    fn explore(
        &self,
        scenario: &Scenario,
        queue: Flavour,
        policy: &mut Asked<'_>,
    ) -> Result<Exploration, Error> {
        let limits = Limits {
            states: self.max_states,
            depth: self.max_depth,
            time: Some(Duration::from_secs(self.timeout)),
            exhaustive: self.exhaustive,
        };
        let mut failure = None;
        let explored = explore(scenario, queue, &limits, &mut |pass| match policy.decide(pass) {
            Ok(decided) => Ok(decided),
            Err(error) => {
                let message = error.to_string();
                failure = Some(error);
                Err(message)
            }
        });
        explored.map_err(|error| match failure {
            Some(error) => error,
            None => Error::Usage(format!("{}: {error}", scenario.name)),
        })
    }
}

/// The policy, loaded when it is first asked.
struct Asked<'a> {
    arguments: &'a Arguments,
    loaded: Option<(Policy, String)>,
}

impl Asked<'_> {
    fn policy(&mut self) -> Result<&(Policy, String), Error> {
        let loaded = if let Some(loaded) = self.loaded.take() {
            loaded
        } else {
            let policy = self.arguments.policy.load()?;
            let settings = self.arguments.settings.load(&policy)?;
            (policy, settings)
        };
        Ok(self.loaded.insert(loaded))
    }

    fn decide(&mut self, pass: &Value) -> Result<Decided, Error> {
        let (policy, settings) = self.policy()?;
        let decision = policy
            .decide(&pass.to_string(), settings)
            .map_err(|source| Error::Evaluation { task: "decide", source })?;
        Ok(match decision.action {
            Action::Requeue => Decided::Requeue,
            Action::After(millis) => Decided::After(millis),
            Action::Await => Decided::Await,
            Action::Stop => Decided::Stop,
        })
    }

    /// Writes the trace, if there is one that a history of one queue can tell.
    fn keep(
        &mut self,
        path: &Path,
        are_many: bool,
        scenario: &Scenario,
        exploration: &Exploration,
    ) -> Result<(), Error> {
        let output = |source| Error::Output { target: path.display().to_string(), source };
        if exploration.trace.is_empty() {
            return Ok(());
        }
        let history = match explore::history(exploration) {
            Ok(history) => history,
            Err(why) => {
                say_note(&why);
                return Ok(());
            }
        };
        let (text, end) = self.record(scenario, exploration, &history)?;
        if !exploration.verdict.is_end(&end) {
            say_note(&format!(
                "{} ({} queue) is {}, and its recorded history ends {end}: a queue trace \
                 knows the status, the sources and the changes of an object, not all of `owed`",
                scenario.name,
                exploration.queue,
                exploration.verdict.word()
            ));
        }
        let file = if are_many || path.is_dir() {
            fs::create_dir_all(path).map_err(output)?;
            path.join(format!("{}.{}.yaml", file_name(&scenario.name), exploration.queue))
        } else {
            path.to_owned()
        };
        fs::write(&file, text)
            .map_err(|source| Error::Output { target: file.display().to_string(), source })
    }

    /// The trace as a fixture that expects what the policy says of it, and the ending.
    fn record(
        &mut self,
        scenario: &Scenario,
        exploration: &Exploration,
        history: &Value,
    ) -> Result<(String, String), Error> {
        let (policy, settings) = self.policy()?;
        let report = policy
            .trace(&history.to_string(), settings)
            .map_err(|source| Error::Evaluation { task: "judge the recorded trace", source })?;
        let mut end = json!({ "state": report.state });
        let state = end["state"].as_str().unwrap_or_default().to_owned();
        if let Some(until) = report.until {
            end["until"] = Value::from(until);
        }
        if let Some(lost) = report.lost {
            end["lostAt"] = Value::from(lost);
        }
        let mut expectation = json!({ "document": 1, "scope": "trace", "end": end });
        let findings = report.findings.iter().filter(|finding| finding.severity != Severity::Info);
        let findings: Vec<Value> = findings
            .map(|f| json!({ "rule": f.rule, "path": f.path, "severity": f.severity }))
            .collect();
        if !findings.is_empty() {
            expectation["findings"] = Value::Array(findings);
        }
        Ok((explore::fixture(scenario, exploration, history, Some(expectation)), state))
    }
}

/// A name that stays in its folder.
fn file_name(name: &str) -> String {
    name.replace(|c: char| !c.is_alphanumeric() && !matches!(c, '-' | '_' | '.'), "-")
}

/// `spec.watches[0].of` as a JSON Pointer. Names with dots in them lead to their parent.
fn pointer(path: &str) -> String {
    let path = path.replace('[', ".").replace(']', "");
    let names = path.split('.').filter(|name| !name.is_empty());
    names.fold(String::new(), |pointer, name| pointer + "/" + name)
}
