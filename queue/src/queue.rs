use core::fmt;

use crate::{
    Key, Millis, PriorityQueue, Scheduler, Settings, WorkQueue,
    returned::{Returned, Step},
};

/// Which queue.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Flavour {
    /// client-go's work queue; in controller-runtime the default before v0.23.
    Classic,
    /// controller-runtime's priority queue; the default since v0.23.
    Priority,
    /// kube-rs's scheduler.
    KubeRs,
}

impl fmt::Display for Flavour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Classic => "classic",
            Self::Priority => "priority",
            Self::KubeRs => "kube-rs",
        })
    }
}

/// A queue of up to `N` keys, at most 256. Keys are the indices below `N`; a larger one panics.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Queue<const N: usize> {
    /// See [`WorkQueue`].
    Classic(WorkQueue<N>),
    /// See [`PriorityQueue`].
    Priority(PriorityQueue<N>),
    /// See [`Scheduler`].
    KubeRs(Scheduler<N>),
}

/// What a queue knows of one key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct View {
    /// There is an entry to be handed out, now or as soon as the key is done.
    pub ready: bool,
    /// A worker has the key.
    pub processing: bool,
    /// When the key's timer fires.
    pub due: Option<Millis>,
    /// Failures that the limiter counts, as far as they still lengthen the delay.
    pub failures: u8,
    /// The priority of the key's entry, or with which a worker has it.
    pub priority: crate::Priority,
}

impl View {
    /// Nothing will happen to the key by itself: no entry, no worker, no timer.
    pub fn is_idle(&self) -> bool {
        !self.ready && !self.processing && self.due.is_none()
    }
}

/// What one operation did to one key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change {
    /// Before the operation.
    pub before: View,
    /// After it.
    pub after: View,
}

impl Change {
    /// The timer that the operation turned into a ready entry, and which is gone with it.
    pub fn consumed(&self) -> Option<Millis> {
        let is_consumed = !self.before.ready && self.after.ready && self.after.due.is_none();
        self.before.due.filter(|_| is_consumed)
    }

    /// The operation made an entry that was not there.
    pub fn is_added(&self) -> bool {
        !self.before.ready && self.after.ready
    }

    /// The operation changed neither entry nor timer.
    pub fn is_void(&self) -> bool {
        self.before.ready == self.after.ready && self.before.due == self.after.due
    }
}

/// Why an operation is impossible in the present state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The key cannot be handed out: it has no ready entry.
    NotReady,
    /// The key cannot be handed out: a worker has it.
    Processing,
    /// The key cannot be handed out: this one goes first.
    Behind(Key),
    /// The key is not being processed.
    NotProcessing,
}

/// The keys that may be handed out next: at most one where the queue has an order.
#[derive(Clone, Debug)]
pub struct Ready<const N: usize> {
    keys: [bool; N],
    next: usize,
}

impl<const N: usize> Iterator for Ready<N> {
    type Item = Key;

    fn next(&mut self) -> Option<Key> {
        while self.next < N {
            let index = self.next;
            self.next += 1;
            if self.keys[index] {
                return Key::try_from(index).ok();
            }
        }
        None
    }
}

impl<const N: usize> Queue<N> {
    /// An empty queue, as after a restart.
    pub const fn new(flavour: Flavour) -> Self {
        const { assert!(N >= 1 && N <= 256, "a key is one byte") };
        match flavour {
            Flavour::Classic => Self::Classic(WorkQueue::EMPTY),
            Flavour::Priority => Self::Priority(PriorityQueue::EMPTY),
            Flavour::KubeRs => Self::KubeRs(Scheduler::EMPTY),
        }
    }

    /// Which queue this is.
    pub const fn flavour(&self) -> Flavour {
        match self {
            Self::Classic(_) => Flavour::Classic,
            Self::Priority(_) => Flavour::Priority,
            Self::KubeRs(_) => Flavour::KubeRs,
        }
    }

    /// `Add`, and `AddWithOpts` with a priority; kube-rs: a request to run now.
    pub fn add(
        &mut self,
        key: Key,
        priority: crate::Priority,
        now: Millis,
        settings: &Settings,
    ) -> Change {
        self.add_after(key, 0, priority, now, settings)
    }

    /// `AddAfter`; kube-rs: a request to run after a delay. A delay of zero or less is an `Add` in
    /// every queue.
    pub fn add_after(
        &mut self,
        key: Key,
        delay: i64,
        priority: crate::Priority,
        now: Millis,
        settings: &Settings,
    ) -> Change {
        let delay = Millis::try_from(delay).unwrap_or(0);
        self.change(key, |queue| match queue {
            Self::Classic(queue) => queue.add_after(key, delay, now),
            Self::Priority(queue) => queue.add(key, delay, priority, now),
            Self::KubeRs(queue) => queue.schedule(key, delay, settings.debounce, now),
        })
    }

    /// `AddRateLimited`. kube-rs has no limiter: the delay is that of the error policy.
    pub fn add_rate_limited(
        &mut self,
        key: Key,
        priority: crate::Priority,
        now: Millis,
        settings: &Settings,
    ) -> Change {
        self.change(key, |queue| match queue {
            Self::Classic(queue) => queue.add_rate_limited(key, now, settings),
            Self::Priority(queue) => queue.add_rate_limited(key, priority, now, settings),
            Self::KubeRs(queue) => {
                if let Some(delay) = settings.on_error {
                    queue.schedule(key, delay, settings.debounce, now);
                }
            }
        })
    }

    /// The keys that may be handed out next.
    pub fn ready(&self) -> Ready<N> {
        let head = match self {
            Self::Classic(queue) => queue.head(),
            Self::Priority(queue) => queue.head(),
            Self::KubeRs(_) => return self.waiting_for_a_worker(),
        };
        let mut keys = [false; N];
        if let Some(key) = head {
            keys[usize::from(key)] = true;
        }
        Ready { keys, next: 0 }
    }

    /// All keys that have an entry and no worker, whatever their order.
    pub fn waiting_for_a_worker(&self) -> Ready<N> {
        let mut keys = [false; N];
        for (index, is_ready) in keys.iter_mut().enumerate() {
            let view = self.view(crate::classic::index_to_key(index));
            *is_ready = view.ready && !view.processing;
        }
        Ready { keys, next: 0 }
    }

    /// `Get`: hands a key out to a worker. How many workers there are is for the caller to know.
    ///
    /// # Errors
    /// The queue would not hand out this key now.
    pub fn get(&mut self, key: Key) -> Result<Change, Refusal> {
        let view = self.view(key);
        if view.processing {
            return Err(Refusal::Processing);
        }
        if !view.ready {
            return Err(Refusal::NotReady);
        }
        let head = match self {
            Self::Classic(queue) => queue.head(),
            Self::Priority(queue) => queue.head(),
            Self::KubeRs(_) => Some(key),
        };
        match head {
            Some(head) if head != key => Err(Refusal::Behind(head)),
            _ => self.get_out_of_order(key),
        }
    }

    /// As [`Queue::get`], without regard to the order of the keys: for histories of versions with
    /// another order, or in which not every key was recorded.
    ///
    /// # Errors
    /// The key has no ready entry, or a worker has it.
    pub fn get_out_of_order(&mut self, key: Key) -> Result<Change, Refusal> {
        let view = self.view(key);
        if view.processing {
            return Err(Refusal::Processing);
        }
        if !view.ready {
            return Err(Refusal::NotReady);
        }
        Ok(self.change(key, |queue| match queue {
            Self::Classic(queue) => queue.get(key),
            Self::Priority(queue) => queue.get(key),
            Self::KubeRs(queue) => queue.get(key),
        }))
    }

    /// `Done`: the worker gives the key back.
    ///
    /// # Errors
    /// No worker has the key.
    pub fn done(&mut self, key: Key) -> Result<Change, Refusal> {
        if !self.view(key).processing {
            return Err(Refusal::NotProcessing);
        }
        Ok(self.change(key, |queue| match queue {
            Self::Classic(queue) => queue.done(key),
            Self::Priority(queue) => queue.done(key),
            Self::KubeRs(queue) => queue.done(key),
        }))
    }

    /// `Forget`: resets the failure count, and nothing else. Nothing in kube-rs.
    pub fn forget(&mut self, key: Key) {
        match self {
            Self::Classic(queue) => queue.forget(key),
            Self::Priority(queue) => queue.forget(key),
            Self::KubeRs(_) => {}
        }
    }

    /// What the runtime does with the result of a pass, short of [`Queue::done`], which every
    /// runtime calls last.
    ///
    /// # Errors
    /// No worker has the key.
    pub fn after_return(
        &mut self,
        key: Key,
        returned: &Returned,
        now: Millis,
        settings: &Settings,
    ) -> Result<(Step, Change), Refusal> {
        let before = self.view(key);
        if !before.processing {
            return Err(Refusal::NotProcessing);
        }
        let step = returned.step(settings.runtime, settings.on_error);
        let priority = match self {
            Self::Priority(queue) => queue.held(key),
            Self::Classic(_) | Self::KubeRs(_) => 0,
        };
        let add_after = |queue: &mut Self, delay: Millis| {
            let delay = i64::try_from(delay).unwrap_or(i64::MAX);
            queue.add_after(key, delay, priority, now, settings);
        };
        match step {
            Step::Nothing => {}
            Step::Forget => self.forget(key),
            Step::RateLimited => {
                self.add_rate_limited(key, priority, now, settings);
            }
            Step::ForgetThenAfter(delay) => {
                self.forget(key);
                add_after(self, delay);
            }
            Step::After(delay) => add_after(self, delay),
        }
        Ok((step, Change { before, after: self.view(key) }))
    }

    /// Lets time pass until `now`: timers that are due fire.
    pub fn advance(&mut self, now: Millis) {
        match self {
            Self::Classic(queue) => queue.advance(now),
            Self::Priority(queue) => queue.advance(now),
            Self::KubeRs(queue) => queue.advance(now),
        }
    }

    /// When the next timer fires.
    pub fn next_due(&self) -> Option<Millis> {
        match self {
            Self::Classic(queue) => queue.next_due(),
            Self::Priority(queue) => queue.next_due(),
            Self::KubeRs(queue) => queue.next_due(),
        }
    }

    /// Moves the clock's zero to `zero`, so that states which differ only in when they are become
    /// equal.
    pub fn rebase(&mut self, zero: Millis) {
        match self {
            Self::Classic(queue) => queue.rebase(zero),
            Self::Priority(queue) => queue.rebase(zero),
            Self::KubeRs(queue) => queue.rebase(zero),
        }
    }

    /// What the queue knows of a key.
    pub fn view(&self, key: Key) -> View {
        match self {
            Self::Classic(queue) => queue.view(key),
            Self::Priority(queue) => queue.view(key),
            Self::KubeRs(queue) => queue.view(key),
        }
    }

    /// Nothing will happen to the key by itself.
    pub fn is_idle(&self, key: Key) -> bool {
        self.view(key).is_idle()
    }

    fn change(&mut self, key: Key, operation: impl FnOnce(&mut Self)) -> Change {
        let before = self.view(key);
        operation(self);
        Change { before, after: self.view(key) }
    }
}
