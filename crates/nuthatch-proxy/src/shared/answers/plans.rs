//! The plans of cached answers, each kept once.
//!
//! Answers of one digest have one plan most often, which is larger than a short answer's header. A plan is found again by what it is; those that
//! no answer has any more go, a pass over all for as many new ones as there are. So many are shared that their memory is small beside any
//! cache's; past that a plan is its answer's own, which is charged for it.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::shared::answers::hit_plan::HitPlan;

/// How many plans are shared at most: about 2 MB.
pub(crate) const PLANS_MAX: usize = 16_384;
/// How many new ones come at least between two passes over all.
const PASS_AFTER_MIN: usize = 256;

/// See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct Plans(Mutex<Shared>);

#[derive(Debug, Default)]
struct Shared {
    plans: HashSet<Arc<HitPlan>>,
    /// New ones since the last pass.
    new: usize,
    /// How many there were behind it.
    left: usize,
}

impl Plans {
    /// The plan that is equal to this one: this one, if there was none.
    ///
    /// Cost: a look-up under a lock that all fills share.
    pub(crate) fn shared(&self, plan: HitPlan) -> Arc<HitPlan> {
        let mut shared = self.0.lock();
        if let Some(there) = shared.plans.get(&plan) {
            return Arc::clone(there);
        }
        shared.new += 1;
        if shared.new > shared.left.max(PASS_AFTER_MIN) {
            shared.let_go();
        }
        if shared.plans.len() >= PLANS_MAX {
            return Arc::new(HitPlan { is_alone: true, ..plan });
        }
        let plan = Arc::new(plan);
        shared.plans.insert(Arc::clone(&plan));
        plan
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().plans.len()
    }
}

impl Shared {
    /// Lets go of those that nobody else has: whoever might want one waits for the lock.
    fn let_go(&mut self) {
        self.plans.retain(|plan| Arc::strong_count(plan) > 1);
        (self.new, self.left) = (0, self.plans.len());
    }
}

#[cfg(test)]
mod tests {
    use nuthatch_cache::Plan;

    use super::*;
    use crate::state::Found;

    /// They differ by what they tell.
    fn plan(found_rows: u64) -> HitPlan {
        HitPlan {
            digest: None,
            rules: Box::default(),
            found_rows: Some(Found::Known(found_rows)),
            terms: None,
            leaves_diagnostics: false,
            is_alone: false,
        }
    }

    #[test]
    fn equal_plans_are_one_and_go_when_no_answer_has_them() {
        let plans = Plans::default();
        let first = plans.shared(plan(1));
        assert!(Arc::ptr_eq(&first, &plans.shared(plan(1))));
        for number in 0..10_000 {
            drop(plans.shared(plan(number)));
        }
        assert!(plans.len() <= 2 * PASS_AFTER_MIN);
        assert!(Arc::ptr_eq(&first, &plans.shared(plan(1))), "what an answer has stays");
    }

    #[test]
    fn plans_past_the_most_that_are_shared_are_weighed_with_their_answers() {
        let plans = Plans::default();
        let held: Vec<_> = (0..PLANS_MAX as u64 + 100).map(|number| plans.shared(plan(number))).collect();
        let weighed = held.iter().filter(|plan| plan.weight_bytes() > 0).count();
        assert_eq!((weighed, plans.len()), (100, PLANS_MAX));
        drop(held);
        for number in 0..2 * PLANS_MAX as u64 {
            drop(plans.shared(plan(number)));
        }
        assert_eq!(plans.shared(plan(7)).weight_bytes(), 0, "there is room again");
    }
}
