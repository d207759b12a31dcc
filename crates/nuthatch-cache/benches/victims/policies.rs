//! Four policies that others use, exact, in one piece.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

/// A cache of a fixed number of entries.
pub(crate) trait Policy {
    /// Asks for one; it is filled if it was not there. Says whether it was.
    fn ask(&mut self, question: u64) -> bool;
}

/// The one that was used last goes last.
pub(crate) struct Lru {
    capacity: usize,
    time: u64,
    times: HashMap<u64, u64>,
    order: BTreeMap<u64, u64>,
}

impl Lru {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, time: 0, times: HashMap::new(), order: BTreeMap::new() }
    }

    fn touch(&mut self, question: u64) -> bool {
        self.time += 1;
        let before = self.times.insert(question, self.time);
        before.into_iter().for_each(|time| {
            self.order.remove(&time);
        });
        self.order.insert(self.time, question);
        before.is_some()
    }

    fn remove(&mut self, question: u64) -> bool {
        let time = self.times.remove(&question);
        time.into_iter().for_each(|time| {
            self.order.remove(&time);
        });
        time.is_some()
    }

    fn has(&self, question: u64) -> bool {
        self.times.contains_key(&question)
    }

    fn oldest(&self) -> Option<u64> {
        self.order.first_key_value().map(|(_, question)| *question)
    }

    /// Takes the oldest out if there are more than fit.
    fn overflow(&mut self) -> Option<u64> {
        let oldest = self.oldest().filter(|_| self.times.len() > self.capacity)?;
        self.remove(oldest);
        Some(oldest)
    }
}

impl Policy for Lru {
    fn ask(&mut self, question: u64) -> bool {
        let is_hit = self.touch(question);
        self.overflow();
        is_hit
    }
}

/// Zhang et al., NSDI 2024: a hand from the tail spares whom was used since, and who is spared stays where it is.
pub(crate) struct Sieve {
    capacity: usize,
    places: HashMap<u64, usize>,
    nodes: Vec<Node>,
    free: Vec<usize>,
    newest: Option<usize>,
    oldest: Option<usize>,
    hand: Option<usize>,
}

struct Node {
    question: u64,
    is_used: bool,
    newer: Option<usize>,
    older: Option<usize>,
}

impl Sieve {
    pub(crate) fn new(capacity: usize) -> Self {
        let (places, nodes, free) = (HashMap::new(), Vec::new(), Vec::new());
        Self { capacity, places, nodes, free, newest: None, oldest: None, hand: None }
    }

    fn evict(&mut self) {
        let mut at = self.hand.or(self.oldest);
        while let Some(place) = at.filter(|place| self.nodes[*place].is_used) {
            self.nodes[place].is_used = false;
            at = self.nodes[place].newer.or(self.oldest);
        }
        let Some(place) = at else { return };
        let Node { question, newer, older, .. } = self.nodes[place];
        self.hand = newer;
        match newer {
            Some(newer) => self.nodes[newer].older = older,
            None => self.newest = older,
        }
        match older {
            Some(older) => self.nodes[older].newer = newer,
            None => self.oldest = newer,
        }
        self.places.remove(&question);
        self.free.push(place);
    }
}

impl Policy for Sieve {
    fn ask(&mut self, question: u64) -> bool {
        if let Some(place) = self.places.get(&question) {
            self.nodes[*place].is_used = true;
            return true;
        }
        if self.places.len() >= self.capacity {
            self.evict();
        }
        let node = Node { question, is_used: false, newer: None, older: self.newest };
        let place = match self.free.pop() {
            Some(place) => {
                self.nodes[place] = node;
                place
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() - 1
            }
        };
        self.newest.into_iter().for_each(|newest| self.nodes[newest].newer = Some(place));
        self.newest = Some(place);
        self.oldest = self.oldest.or(Some(place));
        self.places.insert(question, place);
        false
    }
}

/// Yang et al., SOSP 2023: a tenth for newcomers, who come into the rest if they are used again or come back soon.
pub(crate) struct S3Fifo {
    capacity: usize,
    small: VecDeque<u64>,
    main: VecDeque<u64>,
    ghosts: VecDeque<u64>,
    is_ghost: HashSet<u64>,
    uses: HashMap<u64, u8>,
}

impl S3Fifo {
    pub(crate) fn new(capacity: usize) -> Self {
        let (small, main, ghosts) = (VecDeque::new(), VecDeque::new(), VecDeque::new());
        Self { capacity, small, main, ghosts, is_ghost: HashSet::new(), uses: HashMap::new() }
    }

    fn main_max(&self) -> usize {
        self.capacity - self.capacity / 10
    }

    fn evict(&mut self) {
        if self.small.len() < self.capacity / 10 && !self.main.is_empty() {
            return self.evict_from_main();
        }
        let Some(question) = self.small.pop_front() else { return };
        if self.uses.get(&question).is_some_and(|uses| *uses > 1) {
            self.uses.insert(question, 0);
            self.main.push_back(question);
            if self.main.len() > self.main_max() {
                self.evict_from_main();
            }
            return;
        }
        self.uses.remove(&question);
        self.ghosts.push_back(question);
        self.is_ghost.insert(question);
        if self.ghosts.len() > self.main_max() {
            self.ghosts.pop_front().into_iter().for_each(|oldest| {
                self.is_ghost.remove(&oldest);
            });
        }
    }

    fn evict_from_main(&mut self) {
        while let Some(question) = self.main.pop_front() {
            match self.uses.get_mut(&question) {
                Some(uses) if *uses > 0 => {
                    *uses -= 1;
                    self.main.push_back(question);
                }
                _ => {
                    self.uses.remove(&question);
                    return;
                }
            }
        }
    }
}

impl Policy for S3Fifo {
    fn ask(&mut self, question: u64) -> bool {
        if let Some(uses) = self.uses.get_mut(&question) {
            *uses = (*uses + 1).min(3);
            return true;
        }
        while self.uses.len() >= self.capacity {
            self.evict();
        }
        let queue = if self.is_ghost.remove(&question) { &mut self.main } else { &mut self.small };
        queue.push_back(question);
        self.uses.insert(question, 0);
        false
    }
}

/// Einziger et al., 2017: a window of a hundredth before a segmented LRU, which lets in who was asked for more often.
pub(crate) struct TinyLfu {
    capacity: usize,
    window: Lru,
    probation: Lru,
    protected: Lru,
    sketch: Vec<u8>,
    noted: usize,
}

impl TinyLfu {
    pub(crate) fn new(capacity: usize) -> Self {
        let window = Lru::new(capacity / 100);
        let protected = Lru::new((capacity - capacity / 100) * 8 / 10);
        let sketch = vec![0; (capacity * 8).next_power_of_two()];
        Self { capacity, window, probation: Lru::new(0), protected, sketch, noted: 0 }
    }

    fn rows(&self, question: u64) -> [usize; 4] {
        let mask = self.sketch.len() - 1;
        [1u64, 2, 3, 4].map(|row| {
            let mixed =
                (question ^ row.wrapping_mul(0x9E37_79B9_7F4A_7C15)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
            let mixed = (mixed ^ mixed >> 32).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
            (mixed ^ mixed >> 29) as usize & mask
        })
    }

    fn note(&mut self, question: u64) {
        let mut is_noted = false;
        for row in self.rows(question) {
            is_noted |= self.sketch[row] < 15;
            self.sketch[row] = (self.sketch[row] + 1).min(15);
        }
        self.noted += usize::from(is_noted);
        if self.noted >= 10 * self.capacity {
            self.sketch.iter_mut().for_each(|count| *count /= 2);
            self.noted /= 2;
        }
    }

    fn noted(&self, question: u64) -> u8 {
        self.rows(question).iter().map(|row| self.sketch[*row]).min().unwrap_or_default()
    }

    fn admit(&mut self, candidate: u64) {
        if self.probation.times.len() + self.protected.times.len() < self.capacity - self.window.capacity {
            self.probation.touch(candidate);
            return;
        }
        let Some(victim) = self.probation.oldest().or(self.protected.oldest()) else { return };
        if self.noted(candidate) > self.noted(victim) {
            self.probation.remove(victim);
            self.protected.remove(victim);
            self.probation.touch(candidate);
        }
    }
}

impl Policy for TinyLfu {
    fn ask(&mut self, question: u64) -> bool {
        self.note(question);
        if self.window.has(question) || self.protected.has(question) {
            let segment = if self.window.has(question) { &mut self.window } else { &mut self.protected };
            return segment.touch(question);
        }
        if self.probation.remove(question) {
            self.protected.touch(question);
            let demoted = self.protected.overflow();
            demoted.into_iter().for_each(|demoted| {
                self.probation.touch(demoted);
            });
            return true;
        }
        self.window.touch(question);
        let candidate = self.window.overflow();
        candidate.into_iter().for_each(|candidate| self.admit(candidate));
        false
    }
}
