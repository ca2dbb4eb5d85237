//! Cycles: work that is done again and again, and waking that never gets anywhere.
//!
//! A cycle of moves that happen by themselves, soon, is a *lasso* if it is fair: it does not owe
//! its existence to something that could always have happened and never does (a watch event that
//! stays undelivered, a worker that is never run), nor to a world that always chooses the same of
//! several ends. Fairness is judged with the keys told apart, so the states of a suspicious
//! component are walked once more without the symmetry.
//!
//! A *trap* is a component that nothing but the environment leaves, in which something stays owed.

use std::{
    collections::{BTreeSet, HashMap, HashSet},
    ops::Range,
};

use super::{
    model::Model,
    moves::{Class, Edge, Verb},
    search::{Classes, Graph, canonical},
    state::State,
};

/// A closed walk, with the state that it begins in.
#[derive(Debug)]
pub(super) struct Cycle<const N: usize> {
    pub(super) walk: Vec<(Edge, State<N>)>,
}

/// States of a suspicious component that are looked at, at most; beyond that it is let go, since
/// a false alarm is worse than a miss.
const MAX_NODES: usize = 400_000;

/// Components of states that reach each other by what happens by itself: all others, and hence
/// most, are seen but once.
#[derive(Debug)]
pub(super) struct Components(Vec<Vec<usize>>);

impl Components {
    /// Those of more than one state, or with an edge to themselves.
    pub(super) fn new<const N: usize>(graph: &Graph<N>) -> Self {
        let edges = |state: usize| graph.edges_of(state);
        Self(tarjan(graph.states.len(), edges, |edge| graph.edge(edge, Classes::SURE)))
    }

    /// The parts that need no long timer.
    fn soon<const N: usize>(&self, graph: &Graph<N>) -> Vec<Vec<usize>> {
        let mut parts = vec![];
        for component in &self.0 {
            let position: HashMap<usize, usize> =
                component.iter().enumerate().map(|(at, state)| (*state, at)).collect();
            let mut begins = vec![0];
            let mut leads = vec![];
            for state in component {
                let edges = graph.edges_of(*state);
                let inner = edges.filter_map(|edge| graph.edge(edge, Classes::SOON));
                leads.extend(inner.map(|to| position.get(&to).copied()));
                begins.push(leads.len());
            }
            let edges = |at: usize| begins[at]..begins[at + 1];
            let found = tarjan(component.len(), edges, |edge| leads[edge]);
            parts.extend(
                found
                    .into_iter()
                    .map(|part| part.into_iter().map(|at| component[at]).collect::<Vec<_>>()),
            );
        }
        parts
    }
}

/// Tarjan's algorithm without recursion. `edges` tells where the edges of a node are, `leads` where
/// one of them leads, if it counts.
fn tarjan(
    count: usize,
    edges: impl Fn(usize) -> Range<usize>,
    leads: impl Fn(usize) -> Option<usize>,
) -> Vec<Vec<usize>> {
    const UNSEEN: u32 = 0;
    const DONE: u32 = u32::MAX;
    // The lowest number reachable, which is the own one until something lower is found.
    let mut low = vec![UNSEEN; count];
    let mut counter = 0;
    let mut stack: Vec<usize> = vec![];
    let mut calls: Vec<(usize, u32, Range<usize>)> = vec![];
    let mut found = vec![];
    for root in 0..count {
        if low[root] != UNSEEN {
            continue;
        }
        counter += 1;
        low[root] = counter;
        stack.push(root);
        calls.push((root, counter, edges(root)));
        while let Some((node, number, rest)) = calls.last_mut() {
            let (node, number) = (*node, *number);
            if let Some(edge) = rest.next() {
                let Some(to) = leads(edge) else { continue };
                match low[to] {
                    UNSEEN => {
                        counter += 1;
                        low[to] = counter;
                        stack.push(to);
                        calls.push((to, counter, edges(to)));
                    }
                    DONE => {}
                    other => low[node] = low[node].min(other),
                }
                continue;
            }
            let lowest = low[node];
            calls.pop();
            if let Some((parent, ..)) = calls.last() {
                low[*parent] = low[*parent].min(lowest);
            }
            if lowest != number {
                continue;
            }
            if stack.last() == Some(&node) {
                stack.pop();
                low[node] = DONE;
                if edges(node).any(|edge| leads(edge) == Some(node)) {
                    found.push(vec![node]);
                }
                continue;
            }
            let at = stack.iter().rposition(|other| *other == node).unwrap_or(0);
            let component = stack.split_off(at);
            for node in &component {
                low[*node] = DONE;
            }
            found.push(component);
        }
    }
    found
}

/// One component with the keys told apart.
struct Concrete<const N: usize> {
    states: Vec<State<N>>,
    /// Edges that stay inside.
    edges: Vec<Vec<(usize, Edge)>>,
    /// What can happen by itself, inside or not.
    enabled: Vec<BTreeSet<Fairness>>,
    /// Choices with an end that leads outside.
    leaves: Vec<bool>,
}

/// Moves of which one must happen if one is possible for ever: the same actor, the same key.
type Fairness = (Verb, u8, u8);

fn fairness(edge: &Edge) -> Fairness {
    let step = edge.step;
    let key = if step.verb == Verb::Get { 0 } else { step.key };
    let verb = match step.verb {
        // One handler at its event, whatever it has to do next.
        Verb::AddOld | Verb::AddNew | Verb::MapNew => Verb::MapOld,
        verb => verb,
    };
    (verb, step.who, if verb == Verb::MapOld { 0 } else { key })
}

impl<const N: usize> Concrete<N> {
    /// Walks the component of `members` from `start`. `None` if it is too large.
    fn new(
        model: &Model,
        graph: &Graph<N>,
        members: &[usize],
        start: State<N>,
        follows: impl Fn(&Edge) -> bool,
    ) -> Option<Self> {
        let members: HashSet<usize> = members.iter().copied().collect();
        let mut concrete =
            Self { states: vec![start], edges: vec![], enabled: vec![], leaves: vec![] };
        let mut ids = HashMap::from([(start, 0)]);
        while concrete.edges.len() < concrete.states.len() {
            let state = concrete.states[concrete.edges.len()];
            let (mut edges, mut enabled, mut leaves) = (vec![], BTreeSet::new(), false);
            // The graph was searched, so every answer is known.
            let _ = model.moves(&state, &mut |edge, next: State<N>| {
                if happens_soon(&edge) {
                    enabled.insert(fairness(&edge));
                } else if !follows(&edge) {
                    return;
                }
                let inside = follows(&edge)
                    && graph
                        .index(&canonical(model, next))
                        .is_some_and(|index| members.contains(&index));
                if !inside {
                    leaves |= edge.class == Class::Choice;
                    return;
                }
                let states = &mut concrete.states;
                let to = *ids.entry(next).or_insert_with(|| {
                    states.push(next);
                    states.len() - 1
                });
                edges.push((to, edge));
            });
            concrete.edges.push(edges);
            concrete.enabled.push(enabled);
            concrete.leaves.push(leaves);
            if concrete.states.len() > MAX_NODES {
                return None;
            }
        }
        Some(concrete)
    }

    /// Sets of states around which a fair cycle leads.
    fn fair(&self) -> Vec<BTreeSet<usize>> {
        let all: BTreeSet<usize> = (0..self.states.len()).collect();
        let mut open = vec![all];
        let mut fair = vec![];
        while let Some(within) = open.pop() {
            let list: Vec<usize> = within.iter().copied().collect();
            let position: HashMap<usize, usize> =
                list.iter().enumerate().map(|(at, node)| (*node, at)).collect();
            let mut begins = vec![0];
            let mut leads = vec![];
            for node in &list {
                leads.extend(self.edges[*node].iter().map(|(to, _)| position.get(to).copied()));
                begins.push(leads.len());
            }
            let edges = |at: usize| begins[at]..begins[at + 1];
            for component in tarjan(list.len(), edges, |edge| leads[edge]) {
                let component: BTreeSet<usize> = component.into_iter().map(|at| list[at]).collect();
                let (stays, goes): (BTreeSet<usize>, BTreeSet<usize>) =
                    component.iter().partition(|node| !self.may_leave(**node, &component));
                if !goes.is_empty() {
                    open.push(stays);
                } else if self.is_fair(&component) {
                    fair.push(component);
                }
            }
        }
        fair
    }

    /// The world has a choice here that ends the cycle.
    fn may_leave(&self, node: usize, within: &BTreeSet<usize>) -> bool {
        self.leaves[node]
            || self.edges[node]
                .iter()
                .any(|(to, edge)| edge.class == Class::Choice && !within.contains(to))
    }

    fn inner<'a>(
        &'a self,
        node: usize,
        within: &'a BTreeSet<usize>,
    ) -> impl Iterator<Item = &'a (usize, Edge)> + 'a {
        self.edges[node].iter().filter(|(to, _)| within.contains(to))
    }

    fn is_fair(&self, component: &BTreeSet<usize>) -> bool {
        let works = component
            .iter()
            .any(|node| self.inner(*node, component).any(|(_, e)| e.step.verb == Verb::Get));
        works && self.unfair(component, component, &BTreeSet::new()).is_none()
    }

    /// Something that is possible at all of `nodes` and is neither among `taken` nor taken inside
    /// `within`.
    fn unfair(
        &self,
        nodes: &BTreeSet<usize>,
        within: &BTreeSet<usize>,
        taken: &BTreeSet<Fairness>,
    ) -> Option<Fairness> {
        let mut always: Option<BTreeSet<Fairness>> = None;
        for node in nodes {
            always = Some(match always {
                None => self.enabled[*node].clone(),
                Some(always) => always.intersection(&self.enabled[*node]).copied().collect(),
            });
        }
        let mut always = always?;
        always.retain(|fairness| !taken.contains(fairness));
        if taken.is_empty() {
            for node in nodes {
                for (_, edge) in self.inner(*node, within) {
                    always.remove(&fairness(edge));
                }
            }
        }
        always.pop_first()
    }

    /// A closed walk from `begin` that takes a key from the queue and is fair.
    fn walk(&self, begin: usize, within: &BTreeSet<usize>) -> Vec<(usize, Edge)> {
        let is_get =
            |_: usize, edge: Option<&Edge>| edge.is_some_and(|edge| edge.step.verb == Verb::Get);
        let mut walk = self.nearest(begin, within, is_get);
        loop {
            let at = walk.last().map_or(begin, |(node, _)| *node);
            let mut nodes: BTreeSet<usize> = walk.iter().map(|(node, _)| *node).collect();
            nodes.insert(begin);
            let mut closed = walk.clone();
            if at != begin {
                closed.extend(self.nearest(at, within, |node, _| node == begin));
                nodes.extend(closed.iter().map(|(node, _)| *node));
            }
            let taken: BTreeSet<Fairness> = closed.iter().map(|(_, edge)| fairness(edge)).collect();
            let Some(missing) = self.unfair(&nodes, within, &taken) else { return closed };
            let more = self.nearest(at, within, |node, edge| {
                edge.is_some_and(|edge| fairness(edge) == missing)
                    || !self.enabled[node].contains(&missing)
            });
            if more.is_empty() {
                return closed;
            }
            walk.extend(more);
        }
    }

    /// The shortest walk from `from` whose last edge or node is `wanted`.
    fn nearest(
        &self,
        from: usize,
        within: &BTreeSet<usize>,
        wanted: impl Fn(usize, Option<&Edge>) -> bool,
    ) -> Vec<(usize, Edge)> {
        let mut came: HashMap<usize, (usize, Edge)> = HashMap::new();
        let mut queue = std::collections::VecDeque::from([from]);
        let back = |came: &HashMap<usize, (usize, Edge)>, mut node: usize, last: (usize, Edge)| {
            let mut walk = vec![last];
            while node != from {
                let (before, edge) = came[&node];
                walk.push((node, edge));
                node = before;
            }
            walk.reverse();
            walk
        };
        while let Some(node) = queue.pop_front() {
            for (to, edge) in self.inner(node, within) {
                if wanted(*to, Some(edge)) {
                    return back(&came, node, (*to, *edge));
                }
                if *to != from && !came.contains_key(to) {
                    came.insert(*to, (node, *edge));
                    queue.push_back(*to);
                }
            }
        }
        vec![]
    }

    fn cycle(&self, walk: &[(usize, Edge)]) -> Cycle<N> {
        Cycle { walk: walk.iter().map(|(node, edge)| (*edge, self.states[*node])).collect() }
    }
}

fn happens_soon(edge: &Edge) -> bool {
    matches!(edge.class, Class::Plain | Class::Choice)
}

/// The first lasso: the state in which it is entered, and a way to build it from there.
pub(super) fn lasso<const N: usize>(
    model: &Model,
    graph: &Graph<N>,
    components: &Components,
    concrete: &dyn Fn(usize) -> State<N>,
) -> Option<(usize, Cycle<N>)> {
    let mut components = components.soon(graph);
    components.sort_by_cached_key(|component| component.iter().copied().min());
    for component in components {
        // The world's own steps are no part of a loop of the controllers.
        let follows = |edge: &Edge| happens_soon(edge) && edge.step.verb != Verb::World;
        let walked_from = |entry| Concrete::new(model, graph, &component, concrete(entry), follows);
        let Some(walked) = component.iter().copied().min().and_then(walked_from) else { continue };
        let index = |node: &usize| graph.index(&canonical(model, walked.states[*node]));
        // The state of the fair part that was found first, and hence has the shortest way to it.
        let fair = walked.fair();
        let Some(entry) = fair.iter().flatten().filter_map(index).min() else { continue };
        let Some(walked) = walked_from(entry) else { continue };
        let fair = walked.fair().into_iter().find(|fair| fair.contains(&0));
        let Some(fair) = fair else { continue };
        return Some((entry, walked.cycle(&walked.walk(0, &fair))));
    }
    None
}

/// The first trap: the state in which it is entered, and once around.
pub(super) fn trap<const N: usize>(
    model: &Model,
    graph: &Graph<N>,
    components: &Components,
    concrete: &dyn Fn(usize) -> State<N>,
) -> Option<(usize, Cycle<N>)> {
    let mut components: Vec<&Vec<usize>> = components.0.iter().collect();
    components.retain(|component| {
        let is_owed = |state: &usize| model.owed(&graph.states[*state]) != 0;
        if !component.iter().all(is_owed) {
            return false;
        }
        let members: HashSet<usize> = component.iter().copied().collect();
        component.iter().all(|state| {
            *state < graph.expanded()
                && !(model.long_timers_wait && model.is_any_timer_set(&graph.states[*state]))
                && graph
                    .edges_of(*state)
                    .filter_map(|edge| graph.edge(edge, Classes::SURE))
                    .all(|to| members.contains(&to))
        })
    });
    components.sort_by_cached_key(|component| component.iter().copied().min());
    for component in components {
        let entry = component.iter().copied().min()?;
        let follows = |edge: &Edge| edge.class != Class::Environment;
        let walked = Concrete::new(model, graph, component, concrete(entry), follows);
        let Some(walked) = walked else { continue };
        let owed = walked.states.iter().fold(u8::MAX, |owed, state| owed & model.owed(state));
        if owed == 0 {
            continue;
        }
        let all: BTreeSet<usize> = (0..walked.states.len()).collect();
        let there =
            walked.nearest(0, &all, |_, edge| edge.is_some_and(|e| e.step.verb == Verb::Get));
        let at = there.last().map_or(0, |(node, _)| *node);
        let mut walk = there;
        if at != 0 {
            walk.extend(walked.nearest(at, &all, |node, _| node == 0));
        }
        return Some((entry, walked.cycle(&walk)));
    }
    None
}
