//! Coalescing: of those who ask a server the same for the cache at the same time, one asks, and the others wait.
//!
//! Who is first *leads*; who comes while that is under way waits. When the leader's answer is stored, those who wait look it up as if they
//! had just come: by their key and by the clocks, so nobody is given what is older than they may be given. If nothing was stored they all
//! ask for themselves. If the leader goes away before there is an answer, the first who waits leads from then on, and the others wait on.
//!
//! What is asked is told apart by the hash of its key, in so many places; two that meet in one place do not wait for each other.
//!
//! Cost: an uncontended lock where somebody begins to ask, and one where that ends.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

/// How much can be asked at a time: more than is under way at servers, as a rule.
const PLACES: usize = 1024;

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Coalescing(Box<[Mutex<Place>]>);

#[derive(Debug, Default)]
struct Place {
    /// The hash of what is asked; none while nobody leads.
    asked: Option<u64>,
    waiting: VecDeque<Arc<Told>>,
}

/// What somebody who waits has been told.
#[derive(Debug, Default)]
struct Told(Mutex<(News, Option<Waker>)>);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum News {
    #[default]
    None,
    Brought(Brought),
    Leads,
}

/// What the asking brought for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Brought {
    /// Its answer is in the cache.
    Stored,
    /// There is nothing for them.
    Nothing,
}

/// Who asks, among others who might.
#[derive(Debug)]
pub(crate) enum Joined {
    Leads(Lead),
    Waits(Waiting),
    /// Something else is asked in that place.
    Alone,
}

/// The right to ask for others too. Dropping it hands it to the first who waits.
#[derive(Debug)]
pub(crate) struct Lead {
    coalescing: Arc<Coalescing>,
    asked: u64,
    has_brought: bool,
}

/// A future that tells what somebody else's asking brought; dropping it ends the waiting.
#[derive(Debug)]
pub(crate) struct Waiting {
    coalescing: Arc<Coalescing>,
    asked: u64,
    told: Arc<Told>,
}

/// What who has waited is to do.
#[derive(Debug)]
pub(crate) enum Waited {
    /// To look up what was asked, and to ask if nothing holds.
    For(Brought),
    /// To ask, for the others too.
    Leads(Lead),
}

impl Default for Coalescing {
    fn default() -> Self {
        Self((0..PLACES).map(|_| Mutex::default()).collect())
    }
}

impl Coalescing {
    /// Joins who asks for what has that hash, or is the first.
    pub(crate) fn join(self: &Arc<Self>, asked: u64) -> Joined {
        let mut place = self.place(asked).lock();
        match place.asked {
            None => {
                place.asked = Some(asked);
                Joined::Leads(Lead::new(self, asked))
            }
            Some(under_way) if under_way == asked => {
                let told = Arc::new(Told::default());
                place.waiting.push_back(Arc::clone(&told));
                Joined::Waits(Waiting { coalescing: Arc::clone(self), asked, told })
            }
            Some(_) => Joined::Alone,
        }
    }

    /// The lead, if nobody asks for that now.
    pub(crate) fn lead(self: &Arc<Self>, asked: u64) -> Option<Lead> {
        let mut place = self.place(asked).lock();
        place.asked.is_none().then(|| {
            place.asked = Some(asked);
            Lead::new(self, asked)
        })
    }

    fn place(&self, asked: u64) -> &Mutex<Place> {
        // The lowest bits choose the shard of the cache; any do.
        let place = usize::try_from(asked >> 32).unwrap_or_default() % self.0.len();
        &self.0[place]
    }
}

impl Lead {
    fn new(coalescing: &Arc<Coalescing>, asked: u64) -> Self {
        Self { coalescing: Arc::clone(coalescing), asked, has_brought: false }
    }

    /// Tells those who wait. Returns how many these were.
    pub(crate) fn bring(mut self, brought: Brought) -> usize {
        self.has_brought = true;
        let waiting = {
            let mut place = self.coalescing.place(self.asked).lock();
            place.asked = None;
            std::mem::take(&mut place.waiting)
        };
        waiting.iter().for_each(|told| told.tell(News::Brought(brought)));
        waiting.len()
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        if self.has_brought {
            return;
        }
        let mut place = self.coalescing.place(self.asked).lock();
        match place.waiting.pop_front() {
            // Under the lock: who waits no longer leaves by the same.
            Some(first) => first.tell(News::Leads),
            None => place.asked = None,
        }
    }
}

impl Told {
    fn tell(&self, news: News) {
        let waker = {
            let mut told = self.0.lock();
            told.0 = news;
            told.1.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Waiting {
    fn lead(&self) -> Lead {
        Lead::new(&self.coalescing, self.asked)
    }
}

impl Future for Waiting {
    type Output = Waited;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Waited> {
        let mut told = self.told.0.lock();
        match std::mem::take(&mut told.0) {
            News::None => {
                told.1 = Some(cx.waker().clone());
                Poll::Pending
            }
            News::Brought(brought) => Poll::Ready(Waited::For(brought)),
            News::Leads => Poll::Ready(Waited::Leads(self.lead())),
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let leads = {
            let mut place = self.coalescing.place(self.asked).lock();
            place.waiting.retain(|told| !Arc::ptr_eq(told, &self.told));
            std::mem::take(&mut self.told.0.lock().0) == News::Leads
        };
        if leads {
            drop(self.lead());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn polled(waiting: &mut Waiting) -> Poll<Waited> {
        Pin::new(waiting).poll(&mut Context::from_waker(Waker::noop()))
    }

    fn leads(coalescing: &Arc<Coalescing>, asked: u64) -> Lead {
        match coalescing.join(asked) {
            Joined::Leads(lead) => lead,
            other => panic!("somebody else asks for it: {other:?}"),
        }
    }

    fn waits(coalescing: &Arc<Coalescing>, asked: u64) -> Waiting {
        match coalescing.join(asked) {
            Joined::Waits(waiting) => waiting,
            other => panic!("nobody asks for it: {other:?}"),
        }
    }

    #[test]
    fn who_comes_while_somebody_asks_waits_and_is_told() {
        let coalescing = Arc::new(Coalescing::default());
        let lead = leads(&coalescing, 7);
        let mut others = [waits(&coalescing, 7), waits(&coalescing, 7)];
        assert!(others.iter_mut().all(|waiting| polled(waiting).is_pending()));
        assert!(matches!(coalescing.join(7 + (1 << 60)), Joined::Alone | Joined::Leads(_)));
        assert_eq!(lead.bring(Brought::Stored), 2);
        for waiting in &mut others {
            assert!(matches!(polled(waiting), Poll::Ready(Waited::For(Brought::Stored))));
        }
        drop(others);
        assert_eq!(leads(&coalescing, 7).bring(Brought::Nothing), 0);
    }

    #[test]
    fn what_meets_in_one_place_is_asked_for_by_each() {
        let coalescing = Arc::new(Coalescing::default());
        let lead = leads(&coalescing, 7);
        assert!(matches!(coalescing.join(8), Joined::Alone));
        drop(lead);
        drop(coalescing.lead(8).expect("nobody asks there"));
    }

    #[test]
    fn lead_of_who_goes_away_goes_to_the_first_who_still_waits() {
        let coalescing = Arc::new(Coalescing::default());
        let lead = leads(&coalescing, 7);
        let [gone, mut first, mut second] = [(); 3].map(|()| waits(&coalescing, 7));
        drop(gone);
        drop(lead);
        let Poll::Ready(Waited::Leads(lead)) = polled(&mut first) else { panic!("nobody leads") };
        assert!(polled(&mut second).is_pending());
        assert_eq!(lead.bring(Brought::Nothing), 1);
        assert!(matches!(polled(&mut second), Poll::Ready(Waited::For(Brought::Nothing))));
    }

    #[test]
    fn who_goes_away_with_a_lead_not_taken_yet_hands_it_on() {
        let coalescing = Arc::new(Coalescing::default());
        let lead = leads(&coalescing, 7);
        let [first, mut second] = [(); 2].map(|()| waits(&coalescing, 7));
        drop(lead);
        drop(first);
        assert!(matches!(polled(&mut second), Poll::Ready(Waited::Leads(_))));
        drop(second);
        drop(leads(&coalescing, 7));
    }
}
