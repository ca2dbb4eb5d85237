//! Evaluation threads behind a bounded queue.
//!
//! An evaluation takes tens of microseconds of CPU and never waits, so threads of their own serve
//! it better than the I/O runtime's, and the queue's bound is the load limit: what does not fit is
//! refused at once instead of timing out later.

use std::num::NonZeroUsize;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use tokio::sync::oneshot;

type Job = Box<dyn FnOnce() + Send>;

/// The threads. They end when the pool is dropped and the queue is empty.
#[derive(Debug, Clone)]
pub struct Pool {
    queue: SyncSender<Job>,
}

/// Why a job was not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotDone {
    /// The queue is full.
    #[error("too many evaluations are waiting")]
    Busy,
    /// The job ended without an answer.
    #[error("the evaluation ended without an answer")]
    Lost,
}

impl Pool {
    /// `threads` threads behind a queue of `waiting` jobs.
    ///
    /// # Errors
    /// The system refuses a thread.
    pub fn new(threads: NonZeroUsize, waiting: usize) -> std::io::Result<Self> {
        let (queue, jobs) = sync_channel::<Job>(waiting);
        let jobs = Arc::new(Mutex::new(jobs));
        for number in 0..threads.get() {
            let jobs = Arc::clone(&jobs);
            thread::Builder::new().name(format!("evaluate-{number}")).spawn(move || {
                while let Some(job) = next(&jobs) {
                    job();
                }
            })?;
        }
        Ok(Self { queue })
    }

    /// What `job` returns.
    ///
    /// # Errors
    /// [`NotDone::Busy`] at once where the queue is full.
    pub async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, NotDone> {
        let (send, answer) = oneshot::channel();
        let job: Job = Box::new(move || {
            // Nobody waits any more if the deadline passed; then the work is not worth doing.
            if !send.is_closed() {
                let _ = send.send(job());
            }
        });
        self.queue.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => NotDone::Busy,
            TrySendError::Disconnected(_) => NotDone::Lost,
        })?;
        answer.await.map_err(|_| NotDone::Lost)
    }
}

fn next(jobs: &Mutex<Receiver<Job>>) -> Option<Job> {
    // A job runs after the lock is released, so a panic in it cannot poison the lock.
    jobs.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn a_full_queue_refuses_at_once() {
        let pool = Pool::new(NonZeroUsize::MIN, 1).expect("a thread");
        let (release, held) = channel::<()>();
        let (started, running) = channel::<()>();
        let first = {
            let pool = pool.clone();
            tokio::spawn(async move {
                pool.run(move || {
                    started.send(()).expect("the test listens");
                    held.recv().expect("the test releases");
                })
                .await
            })
        };
        tokio::task::spawn_blocking(move || running.recv().expect("it starts")).await.expect("ran");
        let mut second = std::pin::pin!(pool.run(|| 2));
        let waits = tokio::time::timeout(Duration::from_millis(1), &mut second).await;
        assert!(waits.is_err(), "the only thread is taken");
        assert_eq!(pool.run(|| 3).await, Err(NotDone::Busy));
        release.send(()).expect("it waits");
        assert_eq!(first.await.expect("ran"), Ok(()));
        assert_eq!(second.await, Ok(2));
    }
}
