use super::trials::{Part, Trials};
use super::*;

const SHARE_BYTES: u64 = 64 << 10;

/// What is held: to which question, in how many bytes.
#[derive(Debug, Clone, PartialEq)]
struct Answer {
    question: u64,
    bytes: u64,
}

impl Held for Answer {
    fn weight_bytes(&self) -> u64 {
        self.bytes
    }

    fn own_bytes(&self) -> u64 {
        self.bytes
    }

    fn is_like(&self, other: &Self) -> bool {
        self.question == other.question
    }
}

struct Tried(Shard<Answer>);

impl Tried {
    fn new() -> Self {
        Self(Shard::new(SHARE_BYTES))
    }

    fn ask(&mut self, ruling: &Ruling, question: u64, bytes: u64, cost_us: u32) -> bool {
        let tag = tag_of(question);
        if self.0.get(tag, |stored| stored.question == question).is_some() {
            return true;
        }
        let worth = Some(Worth::of(cost_us, bytes));
        self.0.insert(Newcomer { tag, value: Answer { question, bytes }, worth }, ruling, |_| None);
        assert!(self.0.bytes() <= self.0.share_bytes);
        false
    }

    fn has(&self, question: u64) -> bool {
        self.0.peek(tag_of(question), |stored| stored.question == question).is_some()
    }
}

fn hash_of(question: u64) -> u64 {
    crate::key::hash_of(&question.to_le_bytes())
}

fn tag_of(question: u64) -> Tag {
    Tag::of(hash_of(question))
}

fn newcomer(question: u64, bytes: u64) -> Newcomer<Answer> {
    Newcomer { tag: tag_of(question), value: Answer { question, bytes }, worth: None }
}

#[test]
fn what_leaves_is_told_as_replaced_or_evicted() {
    let mut shard = Shard::new(SHARE_BYTES);
    let (mut replaced, mut evicted) = (0, 0);
    for turn in 0..1000 {
        let (fate, outgoing) = shard.insert(newcomer(turn / 2, 2000), &Ruling::new(Rule::Recency), |_| None);
        replaced += outgoing.iter().filter(|(_, _, why)| *why == Left::Replaced).count();
        evicted += outgoing.iter().filter(|(_, _, why)| *why == Left::Evicted).count();
        assert!(fate == Fate::Kept && shard.bytes() <= SHARE_BYTES);
    }
    assert_eq!((replaced, evicted + shard.len()), (500, 500));
}

#[test]
fn half_a_share_always_fits_whatever_stood_there() {
    for rule in [Rule::Recency, Rule::Proven] {
        let mut shard = Shard::new(SHARE_BYTES);
        for round in 0..10u64 {
            for question in 0..5000 {
                shard.insert(newcomer(round * 10_000 + question, 16), &Ruling::new(rule), |_| None);
            }
            let large = newcomer(round, SHARE_BYTES / 2);
            assert_eq!(shard.insert(large, &Ruling::new(rule), |_| None).0, Fate::Kept, "{round}");
            assert!(shard.bytes() <= SHARE_BYTES);
        }
    }
}

#[test]
fn one_that_is_larger_than_the_share_leaves_no_other() {
    let mut shard = Shard::new(SHARE_BYTES);
    shard.insert(newcomer(1, 1000), &Ruling::new(Rule::Recency), |_| None);
    assert_eq!(shard.insert(newcomer(2, SHARE_BYTES), &Ruling::new(Rule::Recency), |_| None).0, Fate::NoRoom);
    assert_eq!(shard.insert(newcomer(2, u64::MAX), &Ruling::new(Rule::Frequency), |_| None).0, Fate::NoRoom);
}

#[test]
fn who_is_over_goes_before_all_others() {
    for rule in Rule::ALL {
        let mut shard = Shard::new(SHARE_BYTES);
        let is_over = |answer: &Answer| answer.question.is_multiple_of(4).then_some(Over::Invalidated);
        let mut question = 0;
        while shard.insert(newcomer(question, 100), &Ruling::new(rule), |_| None).1.is_empty()
            && question < 1000
        {
            question += 1;
        }
        let full = shard.len();
        let (mut over, mut evicted) = (0, 0);
        for late in 0..full as u64 * 2 {
            let newcomer = newcomer((1 << 20) + late * 4 + 1, 100);
            for (_, answer, why) in shard.insert(newcomer, &Ruling::new(rule), is_over).1 {
                assert!(why == Left::Evicted || is_over(&answer).is_some(), "{rule:?}");
                if late < full as u64 / 4 {
                    *if is_over(&answer).is_some() { &mut over } else { &mut evicted } += 1;
                }
            }
        }
        shard.visit(Tag::FIRST, usize::MAX, |_, answer| assert_eq!(is_over(answer), None, "{rule:?}"));
        assert!(
            over > full / 8 && evicted < over,
            "{rule:?}: at first {over} of {full}, and {evicted} others"
        );
    }
}

#[test]
fn of_two_of_a_size_the_one_that_took_longer_stays() {
    for rule in Rule::ALL {
        let (mut tried, ruling) = (Tried::new(), Ruling::new(rule));
        for _ in 0..3 {
            for question in 0..400 {
                tried.ask(&ruling, question, 200, if question % 2 == 0 { 100 } else { 50_000 });
            }
        }
        for question in 400..600 {
            for _ in 0..2 {
                tried.ask(&ruling, question, 200, 1000);
            }
        }
        let kept =
            |remainder| (0..400).filter(|question| question % 2 == remainder && tried.has(*question)).count();
        assert!(
            kept(1) > kept(0) + 40,
            "{rule:?}: of those that took longer {}, of the others {}",
            kept(1),
            kept(0)
        );
    }
}

#[test]
fn frequency_lets_in_only_who_is_asked_for_more() {
    let mut tried = Tried::new();
    for _ in 0..10 {
        (0..200).for_each(|question| {
            tried.ask(&Ruling::new(Rule::Frequency), question, 200, 100);
        });
    }
    for question in 1000..3000 {
        tried.ask(&Ruling::new(Rule::Frequency), question, 200, 100);
    }
    assert!((0..200).all(|question| tried.has(question)), "a scan pushes out none that is used");
    let asked = (0..100).position(|_| tried.ask(&Ruling::new(Rule::Frequency), 9999, 200, 100));
    assert!(asked.is_some_and(|asks| asks > 0 && asks < 5), "one that comes again is let in: {asked:?}");
}

#[test]
fn share_that_is_lowered_holds_at_once_and_keeps_what_is_used() {
    let mut tried = Tried::new();
    for question in 0..2000 {
        tried.ask(&Ruling::new(Rule::Recency), question, 32, 100);
    }
    let used: Vec<u64> = (0..2000).filter(|question| tried.has(*question)).step_by(4).collect();
    for _ in 0..4 {
        used.iter().for_each(|question| assert!(tried.ask(&Ruling::new(Rule::Recency), *question, 32, 100)));
    }
    let before = tried.0.len();
    let outgoing = tried.0.set_share(SHARE_BYTES / 2, &Ruling::new(Rule::Frequency));
    assert!(tried.0.bytes() <= SHARE_BYTES / 2);
    assert_eq!(before, tried.0.len() + outgoing.len());
    assert!(tried.0.len() > before * 2 / 5, "half the room holds nearly half: {} of {before}", tried.0.len());
    let kept = used.iter().filter(|question| tried.has(**question)).count();
    assert!(kept * 10 > used.len() * 9, "{kept} of {}", used.len());
    tried.0.set_share(0, &Ruling::new(Rule::Frequency));
    assert_eq!((tried.0.len(), tried.0.bytes()), (0, 0));
}

#[test]
fn what_is_taken_out_can_be_put_in_elsewhere_with_its_uses() {
    let mut tried = Tried::new();
    for question in 0..100 {
        (0..3).for_each(|_| {
            tried.ask(&Ruling::new(Rule::Recency), question, 200, 100);
        });
    }
    let moving = tried.0.take(SHARE_BYTES);
    assert_eq!((moving.len(), tried.0.len(), tried.0.bytes()), (100, 0, 0));
    assert!(moving.is_sorted_by_key(|moved| moved.tag));
    for moved in moving {
        assert_eq!(tried.0.put(moved, &Ruling::new(Rule::Frequency)).0, Fate::Kept);
    }
    for question in 1000..2000 {
        tried.ask(&Ruling::new(Rule::Frequency), question, 200, 100);
    }
    assert!((0..100).all(|question| tried.has(question)));
}

#[test]
fn trials_find_the_rule_for_the_load() {
    // What is asked for is asked for again soon, and never later.
    let drifting = |turn: u64, random: u64| turn / 4 + random % 3000;
    // All is asked for in turn, and is more than there is room for.
    let looping = |turn: u64, _| turn % 8000;
    for (name, load, rule) in [
        ("drifting", &drifting as &dyn Fn(u64, u64) -> u64, Rule::Recency),
        ("looping", &looping, Rule::Frequency),
        ("drifting", &drifting, Rule::Recency),
    ] {
        let (mut trials, in_force) = (Trials::new(1 << 20), Ruling::new(Rule::default()));
        let mut random = 1u64;
        for turn in 0..400_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let hash = hash_of(load(turn, random >> 40));
            if hash & Part::of(1 << 20).mask() == 0 {
                trials.ask(Tag::of(hash), Sample::of(200, 0), None, &in_force);
            }
        }
        let (_, hits) = trials.figures();
        let best = Rule::ALL.into_iter().max_by_key(|rule| hits[usize::from(rule.number())]);
        assert_eq!((Some(in_force.rule()), in_force.rule()), (best, rule), "{name}: {hits:?}");
    }
}

#[test]
fn scan_costs_who_was_used_little_under_each_rule() {
    for rule in Rule::ALL {
        let (mut tried, ruling) = (Tried(Shard::new(16 * SHARE_BYTES)), Ruling::new(rule));
        let mut random = 1u64;
        let mut next = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            random >> 40
        };
        for turn in 0..200_000 {
            tried.ask(&ruling, (1 << 40) + turn / 4 + next() % 3000, 200, 100);
        }
        let used = tried.0.len() as u64 * 4 / 5;
        for _ in 0..40 * used {
            tried.ask(&ruling, next() % used, 200, 100);
        }
        let before = (0..used).filter(|question| tried.has(*question)).count();
        for question in 0..10 * used {
            tried.ask(&ruling, (1 << 50) + question, 200, 100);
        }
        let kept = (0..used).filter(|question| tried.has(*question)).count();
        assert!(kept * 20 >= before * 19, "{rule:?}: {kept} of {before}");
    }
}

#[test]
fn who_was_turned_away_comes_again() {
    let (mut tried, ruling) = (Tried::new(), Ruling::new(Rule::Frequency));
    for question in 0..64 {
        tried.ask(&ruling, question, 2_000, 0);
    }
    let shard = &mut tried.0;
    assert!(shard.comes_again(tag_of(0)) || shard.comes_again(tag_of(1)), "some are here");
    let newcomer = tag_of(1_000);
    assert!(!shard.comes_again(newcomer));
    let len = shard.len();
    shard.turn_away(newcomer, &ruling);
    assert!(shard.comes_again(newcomer));
    assert!(shard.comes_again(newcomer), "to look changes nothing");
    assert_eq!(shard.len(), len);
}
