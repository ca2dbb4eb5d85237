//! Breadth-first search over all states of a model.
//!
//! States are kept in one arena, in the order in which they were found; a table of 64-bit entries,
//! half fingerprint, half index, says where. An entry that matches by fingerprint is compared with
//! the state itself, so no collision can hide a state, and the odds of one need no arguing. Each
//! state knows the state it was found from, so the first bad one has a shortest trace.
#![expect(clippy::cast_possible_truncation, reason = "a value that was packed fits its bits")]

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use plumb_queue::Millis;

use super::{
    model::Model,
    moves::{Class, Unanswered},
    scenario::{Cause, Check},
    state::{MAX_KEYS, State, sort_keys},
};

/// Where a search stops.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// States at most.
    pub states: usize,
    /// Steps from the first state at most.
    pub depth: usize,
    /// Time at most.
    pub time: Option<Duration>,
    /// Goes on after the first stuck state, to count them all.
    pub exhaustive: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { states: 5_000_000, depth: 10_000, time: None, exhaustive: false }
    }
}

/// All that was found, and how it hangs together.
#[derive(Debug)]
pub(super) struct Graph<const N: usize> {
    pub(super) states: Vec<State<N>>,
    pub(super) parents: Vec<u32>,
    /// Where each expanded state's edges begin; one more than there are such states.
    pub(super) begins: Vec<usize>,
    /// The index of the state that an edge leads to, and two bits for its class.
    edges: Vec<u32>,
    table: Table,
    /// What follows the state that is being expanded, with its hash.
    next_states: Vec<(State<N>, u64, Class)>,
    pub(super) depth: usize,
    /// Why the search ended before everything was seen.
    pub(super) stopped: Option<Stop>,
    pub(super) finds: Finds,
}

/// Why a search ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Something was found than which nothing is worse.
    Found,
    /// [`Limits::states`]
    States,
    /// [`Limits::depth`]
    Depth,
    /// [`Limits::time`]
    Time,
}

/// What single states and edges show.
#[derive(Debug, Default)]
pub(super) struct Finds {
    /// States in which something is owed and nothing happens by itself; the first, and how many.
    pub(super) stuck: Option<usize>,
    pub(super) stuck_count: usize,
    /// The longest sleep with something owed, and where.
    pub(super) asleep: Option<(Millis, usize)>,
    /// The first sleep beyond the scenario's patience.
    pub(super) overslept: Option<(Millis, usize)>,
    /// The state that the edge leaves, and the edge's number there.
    pub(super) torn: Option<(usize, usize)>,
    pub(super) doubled: Option<(usize, usize, Cause)>,
    pub(super) doubled_states: usize,
}

/// Some of the classes of edges.
#[derive(Debug, Clone, Copy)]
pub(super) struct Classes(u32);

impl Classes {
    /// What happens by itself, soon.
    pub(super) const SOON: Self = Self(1 << Class::Plain as u32 | 1 << Class::Choice as u32);
    /// What happens by itself.
    pub(super) const SURE: Self = Self(Self::SOON.0 | 1 << Class::Long as u32);
}

const CLASS_BITS: u32 = 2;
const MAX_INDEX: usize = (u32::MAX >> CLASS_BITS) as usize;

impl<const N: usize> Graph<N> {
    /// Searches `model` within `limits`.
    ///
    /// # Errors
    /// The component has to be asked first.
    pub(super) fn search(model: &Model, limits: &Limits) -> Result<Self, Unanswered> {
        let begin = Instant::now();
        let mut graph = Self {
            states: vec![],
            parents: vec![],
            begins: vec![0],
            edges: vec![],
            table: Table::new(),
            next_states: vec![],
            depth: 0,
            stopped: None,
            finds: Finds::default(),
        };
        graph.insert(canonical(model, model.initial()), u32::MAX);
        let max_states = limits.states.min(MAX_INDEX);
        let mut level_end = 1;
        let mut at = 0;
        while at < graph.states.len() {
            if at == level_end {
                level_end = graph.states.len();
                graph.depth += 1;
                if graph.depth >= limits.depth {
                    graph.stopped = Some(Stop::Depth);
                    break;
                }
            }
            if at % 1024 == 0 && limits.time.is_some_and(|time| begin.elapsed() >= time) {
                graph.stopped = Some(Stop::Time);
                break;
            }
            if graph.states.len() >= max_states {
                graph.stopped = Some(Stop::States);
                break;
            }
            graph.expand(model, at)?;
            at += 1;
            let is_found = graph.finds.stuck.is_some() || graph.finds.overslept.is_some();
            if is_found && !limits.exhaustive && model.checks.contains(&Check::Stuck) {
                graph.stopped = Some(Stop::Found);
                break;
            }
        }
        if level_end < graph.states.len() {
            graph.depth += 1;
        }
        Ok(graph)
    }

    fn expand(&mut self, model: &Model, at: usize) -> Result<(), Unanswered> {
        let state = self.states[at];
        let mut goes_on = false;
        let mut is_doubled = false;
        let mut number = 0;
        let parent = at as u32;
        let Self { states, parents, edges, table, finds, next_states, .. } = self;
        next_states.clear();
        model.moves(&state, &mut |edge, next: State<N>| {
            goes_on |= matches!(edge.class, Class::Plain | Class::Choice) && edge.timer.is_none();
            if edge.torn && finds.torn.is_none() {
                finds.torn = Some((at, number));
            }
            if let Some(cause) = edge.doubled {
                is_doubled = true;
                finds.doubled.get_or_insert((at, number, cause));
            }
            number += 1;
            let next = canonical(model, next);
            next_states.push((next, hash(&next), edge.class));
        })?;
        table.reserve(states, next_states.len());
        for (next, hash, class) in next_states {
            let index = table.insert(states, *next, *hash);
            if index == parents.len() {
                parents.push(parent);
            }
            edges.push((index as u32) << CLASS_BITS | *class as u32);
        }
        self.begins.push(self.edges.len());
        self.finds.doubled_states += usize::from(is_doubled);
        if goes_on {
            return Ok(());
        }
        let owed = model.owed(&state);
        if owed == 0 {
            return Ok(());
        }
        let finds = &mut self.finds;
        let sleeps: [Option<Millis>; MAX_KEYS] = std::array::from_fn(|key| {
            if key < usize::from(model.keys) { model.sleep(&state, key as u8) } else { None }
        });
        let Some(any_timer) = sleeps.into_iter().flatten().min() else {
            finds.stuck_count += 1;
            finds.stuck.get_or_insert(at);
            return Ok(());
        };
        // A key without a timer may still be woken by what another key does.
        let owing = (0..MAX_KEYS).filter(|key| owed & (1 << key) != 0);
        let sleep = owing.map(|key| sleeps[key].unwrap_or(any_timer)).max().unwrap_or(any_timer);
        if finds.asleep.is_none_or(|(longest, _)| sleep > longest) {
            finds.asleep = Some((sleep, at));
        }
        if model.patience.is_some_and(|patience| sleep > patience) {
            finds.stuck_count += 1;
            finds.overslept.get_or_insert((sleep, at));
        }
        Ok(())
    }

    fn insert(&mut self, state: State<N>, parent: u32) {
        self.table.insert(&mut self.states, state, hash(&state));
        self.parents.push(parent);
    }

    /// The index of a canonical state.
    pub(super) fn index(&self, state: &State<N>) -> Option<usize> {
        self.table.find(&self.states, state)
    }

    /// How many states had all their edges followed.
    pub(super) fn expanded(&self) -> usize {
        self.begins.len() - 1
    }

    pub(super) fn transitions(&self) -> usize {
        self.edges.len()
    }

    /// Where the edges of a state are; none if it was not expanded.
    pub(super) fn edges_of(&self, state: usize) -> Range<usize> {
        match self.begins.get(state + 1) {
            Some(end) => self.begins[state]..*end,
            None => 0..0,
        }
    }

    /// Where an edge leads, if it is of one of `classes`.
    #[inline]
    pub(super) fn edge(&self, at: usize, classes: Classes) -> Option<usize> {
        let edge = self.edges[at];
        let class = edge & ((1 << CLASS_BITS) - 1);
        (classes.0 & (1 << class) != 0).then_some((edge >> CLASS_BITS) as usize)
    }

    /// The states from the first to `state`.
    pub(super) fn path(&self, mut state: usize) -> Vec<usize> {
        let mut path = vec![state];
        while self.parents[state] != u32::MAX {
            state = self.parents[state] as usize;
            path.push(state);
        }
        path.reverse();
        path
    }
}

/// The state that stands for all permutations of its keys.
#[inline]
pub(super) fn canonical<const N: usize>(model: &Model, mut state: State<N>) -> State<N> {
    if model.keys > 1 {
        sort_keys(&mut state, model.keys, model.key_words);
    }
    state
}

/// Open addressing; an entry is the upper half of a state's hash, and its index plus one.
#[derive(Debug)]
struct Table {
    entries: Vec<u64>,
}

impl Table {
    fn new() -> Self {
        Self { entries: vec![0; 1 << 14] }
    }

    /// Makes room for as many states more.
    fn reserve<const N: usize>(&mut self, states: &[State<N>], more: usize) {
        while (states.len() + more) * 3 > self.entries.len() * 2 {
            self.grow(states);
        }
    }

    /// The index of the state, which is new if it is the last. There must be room for it.
    #[inline]
    fn insert<const N: usize>(
        &mut self,
        states: &mut Vec<State<N>>,
        state: State<N>,
        hash: u64,
    ) -> usize {
        let mask = self.entries.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let entry = self.entries[at];
            if entry == 0 {
                let index = states.len();
                states.push(state);
                self.entries[at] = (hash & TAG) | (index as u64 + 1);
                return index;
            }
            if entry & TAG == hash & TAG {
                let index = (entry & !TAG) as usize - 1;
                if states[index] == state {
                    return index;
                }
            }
            at = (at + 1) & mask;
        }
    }

    fn find<const N: usize>(&self, states: &[State<N>], state: &State<N>) -> Option<usize> {
        let hash = hash(state);
        let mask = self.entries.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let entry = self.entries[at];
            if entry == 0 {
                return None;
            }
            let index = (entry & !TAG) as usize;
            if entry & TAG == hash & TAG && states[index - 1] == *state {
                return Some(index - 1);
            }
            at = (at + 1) & mask;
        }
    }

    #[cold]
    fn grow<const N: usize>(&mut self, states: &[State<N>]) {
        let len = self.entries.len() * 2;
        let mask = len - 1;
        let mut entries = vec![0_u64; len];
        for (index, state) in states.iter().enumerate() {
            let hash = hash(state);
            let mut at = hash as usize & mask;
            while entries[at] != 0 {
                at = (at + 1) & mask;
            }
            entries[at] = (hash & TAG) | (index as u64 + 1);
        }
        self.entries = entries;
    }
}

const TAG: u64 = !0 << 32;

/// Multiplies and folds, word by word.
#[inline]
fn hash<const N: usize>(state: &State<N>) -> u64 {
    let mut hash: u64 = 0x9e37_79b9_7f4a_7c15;
    for word in state {
        let product = u128::from(hash ^ word) * 0xa076_1d64_78bd_642f;
        hash = (product as u64) ^ (product >> 64) as u64 ^ 0xe703_7ed1_a0b4_28db;
    }
    hash
}
