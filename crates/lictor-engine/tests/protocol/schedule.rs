//! Runs threads one step at a time, in a given order.

use std::sync::{Condvar, Mutex};

/// Lets actors take turns. Each step of an actor begins with [`Turns::begin`] and ends with [`Turns::end`].
pub(crate) struct Turns {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// Whose turns are left, the next one last.
    left: Vec<usize>,
    /// Somebody is in the middle of a step.
    busy: bool,
}

impl Turns {
    pub(crate) fn new(mut order: Vec<usize>) -> Self {
        order.reverse();
        Self { state: Mutex::new(State { left: order, busy: false }), changed: Condvar::new() }
    }

    pub(crate) fn begin(&self, actor: usize) {
        let mut state = self.state.lock().unwrap();
        while state.busy || state.left.last().is_some_and(|next| *next != actor) {
            state = self.changed.wait(state).unwrap();
        }
        state.left.pop();
        state.busy = true;
    }

    pub(crate) fn end(&self) {
        self.state.lock().unwrap().busy = false;
        self.changed.notify_all();
    }

    /// The actor is done: the turns it has left are given up.
    pub(crate) fn retire(&self, actor: usize) {
        self.state.lock().unwrap().left.retain(|next| *next != actor);
        self.changed.notify_all();
    }
}

/// Every order in which actors with so many steps each can take their turns.
pub(crate) fn orders(steps: &[usize]) -> Vec<Vec<usize>> {
    fn extend(left: &mut Vec<usize>, order: &mut Vec<usize>, all: &mut Vec<Vec<usize>>) {
        if left.iter().all(|count| *count == 0) {
            all.push(order.clone());
        }
        for actor in 0..left.len() {
            if left[actor] > 0 {
                left[actor] -= 1;
                order.push(actor);
                extend(left, order, all);
                order.pop();
                left[actor] += 1;
            }
        }
    }
    let mut all = Vec::new();
    extend(&mut steps.to_vec(), &mut Vec::new(), &mut all);
    all
}

#[test]
fn all_orders_are_there_and_each_once() {
    let orders = orders(&[4, 4, 1]);
    assert_eq!(orders.len(), 630);
    let different: std::collections::BTreeSet<_> = orders.iter().collect();
    assert_eq!(different.len(), orders.len());
}
