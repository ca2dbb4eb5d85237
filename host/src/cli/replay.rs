//! `plumb replay`

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use super::policy::{Isolation, PolicyArguments, SettingsArguments};
use super::progress::Progress;
use super::watch::Changes;
use super::{Common, heading, say_error, width};
use crate::engine::Policy;
use crate::error::Error;
use crate::exit::Exit;
use crate::input::{Source, sources};
use crate::output::{FailOn, Format, Manner, Output, Verbosity};
use crate::replay::result::{Event, Report};
use crate::replay::{Options, OptionsError, Replay};

/// Judges recorded objects, watch streams, reconcile passes and queue traces.
///
/// Read without being told which: YAML of many documents, Lists, what `kubectl get -w` prints in
/// YAML or JSON, raw watch lines, AdmissionReviews, audit logs, controllers' logs, and plumb's own
/// kinds. A first document of kind Fixture says what is expected of the rest: then it is a test.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Files, folders, patterns, or `-` for standard input, which is judged as it flows.
    #[arg(required = true, value_name = "PATH", help_heading = heading::INPUT)]
    paths: Vec<String>,
    /// Judge only objects of these kinds: `Kustomization`, `Kustomization.kustomize.*`.
    #[arg(long, value_name = "KIND", value_delimiter = ',', help_heading = heading::INPUT)]
    kind: Vec<String>,
    /// Judge only objects in these namespaces.
    #[arg(short, long, value_name = "NAME", value_delimiter = ',', help_heading = heading::INPUT)]
    namespace: Vec<String>,
    /// Begin again whenever a file changes, until interrupted.
    #[arg(long, help_heading = heading::INPUT)]
    watch: bool,
    /// Write what is found into the files, as what their headers expect.
    #[arg(long, help_heading = heading::INPUT)]
    update: bool,

    /// Take this for the present (RFC 3339). Else a header's `spec.now`, else the newest time in
    /// the input, or the real time where the input is live.
    #[arg(long, value_name = "TIME", help_heading = heading::JUDGEMENT)]
    now: Option<String>,
    /// Tell only findings of these rules; `ready-*` is a pattern.
    #[arg(long, value_name = "RULE", value_delimiter = ',', help_heading = heading::JUDGEMENT)]
    rule: Vec<String>,
    /// From which severity on a finding fails the run.
    #[arg(
        long,
        value_enum,
        value_name = "SEVERITY",
        default_value_t,
        help_heading = heading::JUDGEMENT
    )]
    fail_on: FailOn,
    #[command(flatten)]
    settings: SettingsArguments,
    #[command(flatten)]
    policy: PolicyArguments,

    /// How results are written.
    #[arg(long, value_enum, default_value_t, help_heading = heading::OUTPUT)]
    format: Format,
    /// Write to this file instead of standard output.
    #[arg(short, long, value_name = "FILE", help_heading = heading::OUTPUT)]
    output: Option<PathBuf>,

    /// What one evaluation may leave to the next.
    #[arg(long, value_enum, default_value_t, help_heading = heading::LIMITS)]
    isolation: Isolation,
}

impl Arguments {
    pub(super) fn run(&self, common: &Common) -> Result<Exit, Error> {
        if self.watch && self.paths.iter().any(|path| path == "-") {
            return Err(Error::Usage("standard input cannot be watched: it is read once".into()));
        }
        let policy = self.policy.load()?.with_isolation(self.isolation.into());
        let task = "list the rules";
        let rules = policy.rules().map_err(|source| Error::Evaluation { task, source })?;
        let manner = Manner {
            rules,
            fail_on: self.fail_on,
            verbosity: common.verbosity(),
            width: if self.output.is_some() { super::DEFAULT_WIDTH } else { width() },
        };
        if !self.watch {
            return self.once(&policy, &manner);
        }
        let own = self.output.as_deref();
        let watched: Vec<PathBuf> = self.paths.iter().map(|path| watched(path)).collect();
        let changes = Changes::of(&watched, own)
            .map_err(|error| Error::Usage(format!("failed to watch the files: {error}")))?;
        loop {
            match self.once(&policy, &manner) {
                Ok(_) => {}
                Err(error) if error.is_closed_pipe() => return Ok(Exit::Clean),
                Err(error) => say_error(&error.to_string()),
            }
            // Nothing to tell once watching has ended: it was interrupted.
            if !changes.wait() {
                return Ok(Exit::Clean);
            }
        }
    }

    /// Reads, judges and tells everything.
    fn once(&self, policy: &Policy, manner: &Manner) -> Result<Exit, Error> {
        let options = Options {
            now: self.now.clone(),
            settings: self.settings.load(policy)?,
            rules: self.rule.clone(),
            kinds: self.kind.clone(),
            namespaces: self.namespace.clone(),
            update: self.update,
            // What is told as it comes need not be kept: a stream may never end.
            keep: self.format != Format::Human,
        };
        let replay = Replay::new(policy, options).map_err(options_error)?;
        let file = match &self.output {
            Some(path) => Some(File::create(path).map_err(|source| self.failed(source))?),
            None => None,
        };
        let wanted = manner.verbosity != Verbosity::Quiet;
        let (sources, unreadable) = sources(&self.paths);
        let total = sources.iter().map(Source::size).sum::<Option<u64>>();
        let progress = RefCell::new(Progress::new(total, wanted));
        let out: Box<dyn Write + '_> = match file {
            Some(file) => Box::new(BufWriter::new(anstream::StripStream::new(file))),
            None => {
                Box::new(BufWriter::new(Aside { out: anstream::stdout(), progress: &progress }))
            }
        };
        let mut output = Output::new(self.format, manner, out);
        let ended = told(replay, &sources, unreadable, &mut |event| {
            progress.borrow_mut().event(event);
            output.event(event)
        });
        let exit = output.exit();
        let report = match ended {
            Ok(report) => report,
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(exit),
            Err(error) => return Err(self.failed(error)),
        };
        let headline = match output.finish(&report) {
            Ok(headline) => headline,
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(exit),
            Err(error) => return Err(self.failed(error)),
        };
        if let Some(path) = &self.output
            && wanted
        {
            // Where standard error is closed, nobody wants to know.
            let _ = writeln!(io::stderr(), "{}: {}", path.display(), headline);
        }
        Ok(exit)
    }

    fn failed(&self, source: io::Error) -> Error {
        match &self.output {
            Some(path) => Error::Output { target: path.display().to_string(), source },
            None => Error::stdout(source),
        }
    }
}

/// Replays everything and tells it.
fn told(
    mut replay: Replay,
    sources: &[Source],
    unreadable: Vec<crate::input::Unreadable>,
    emit: &mut dyn FnMut(Event<'_>) -> io::Result<()>,
) -> io::Result<Report> {
    for error in unreadable {
        replay.unreadable(error, emit)?;
    }
    for source in sources {
        replay.read(source, emit)?;
    }
    Ok(replay.finish())
}

/// What to watch for an argument: itself, or the folder of a pattern.
fn watched(argument: &str) -> PathBuf {
    let is_fixed = |part: &Path| !part.to_string_lossy().contains(['*', '?', '[', '{']);
    let path = Path::new(argument);
    if path.exists() || is_fixed(path) {
        return path.to_owned();
    }
    let folder = path.ancestors().skip(1).find(|part| is_fixed(part));
    match folder {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn options_error(error: OptionsError) -> Error {
    match error {
        OptionsError::Policy(source) => Error::Evaluation { task: "validate the settings", source },
        error => Error::Usage(error.to_string()),
    }
}

/// Standard output, written to without the progress bar in between.
struct Aside<'a, W> {
    out: W,
    progress: &'a RefCell<Progress>,
}

impl<W: Write> Write for Aside<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.progress.borrow().aside(|| self.out.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
