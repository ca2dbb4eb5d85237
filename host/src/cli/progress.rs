//! How far a long replay is, on standard error where that is a terminal.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::output::words;
use crate::replay::result::Event;

/// What ends sooner needs no bar.
const PATIENCE: Duration = Duration::from_millis(700);

/// A bar that appears when the user begins to wonder.
pub(super) struct Progress {
    /// None where nobody sees it.
    begun: Option<Instant>,
    bar: Option<ProgressBar>,
    /// Bytes of all inputs, where they are known.
    total: Option<u64>,
    bytes: u64,
    documents: usize,
    findings: usize,
    /// The document of the last result.
    last: String,
}

impl Progress {
    pub(super) fn new(total: Option<u64>, wanted: bool) -> Self {
        let seen = wanted && io::stderr().is_terminal();
        Self {
            begun: seen.then(Instant::now),
            bar: None,
            total,
            bytes: 0,
            documents: 0,
            findings: 0,
            last: String::new(),
        }
    }

    pub(super) fn event(&mut self, event: Event<'_>) {
        let (Some(begun), Event::Judged(judged)) = (self.begun, event) else { return };
        self.findings += judged.findings.len();
        if judged.input != self.last {
            self.last.clone_from(&judged.input);
            self.documents += 1;
            let text = judged.places.first().map_or(0, |place| place.document.text.len());
            self.bytes += text as u64;
        }
        if self.bar.is_none() && begun.elapsed() >= PATIENCE {
            self.bar = Some(bar(self.total));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.total.map_or(0, |total| self.bytes.min(total)));
            bar.set_message(format!(
                "{}, {}",
                words::count(self.documents, "document"),
                words::count(self.findings, "finding")
            ));
        }
    }

    /// Writes to the same terminal without the bar in between.
    pub(super) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(total: Option<u64>) -> ProgressBar {
    let style = |template: &str| {
        ProgressStyle::with_template(template)
            .expect("the template is a constant")
            .progress_chars("=> ")
    };
    let Some(total) = total else {
        let bar = ProgressBar::new_spinner().with_style(style("{spinner} {msg}"));
        bar.enable_steady_tick(Duration::from_millis(120));
        return bar;
    };
    ProgressBar::new(total).with_style(style("[{bar:30}] {percent}%  {msg}  {eta} left"))
}
