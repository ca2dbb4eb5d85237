//! The states of a model and what follows them, for searches other than this one: a test compares
//! the search with an independent model checker on the same space.

use super::{
    model::Model,
    moves::{Class, Edge},
    search::canonical,
    state::State,
};

/// The states of a model, in `N` words each; at least [`Model::words`].
#[derive(Debug, Clone, Copy)]
pub struct Space<'m, const N: usize> {
    model: &'m Model,
}

impl<'m, const N: usize> Space<'m, N> {
    /// The space of `model`; nothing if its states are larger than `N` words, or if it asks the
    /// component.
    pub fn new(model: &'m Model) -> Option<Self> {
        (model.words <= N && model.questions.is_empty()).then_some(Self { model })
    }

    /// The first state.
    pub fn initial(&self) -> State<N> {
        canonical(self.model, self.model.initial())
    }

    /// Calls `emit` with every state that follows `state`, once for each way that leads to it.
    pub fn next(&self, state: &State<N>, mut emit: impl FnMut(State<N>)) {
        // Without questions there is nothing to be answered.
        let _ = self.model.moves(state, &mut |_: Edge, next| emit(canonical(self.model, next)));
    }

    /// Whether something is owed in `state`, and nothing will do it.
    pub fn is_stuck(&self, state: &State<N>) -> bool {
        if self.model.owed(state) == 0 || self.model.is_any_timer_set(state) {
            return false;
        }
        let mut goes_on = false;
        let _ = self.model.moves(state, &mut |edge: Edge, _| {
            goes_on |= edge.class != Class::Environment;
        });
        !goes_on
    }
}
