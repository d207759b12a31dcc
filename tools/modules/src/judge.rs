//! What is wrong with a crate's arrows, in lines for whoever mends it.

use std::collections::{BTreeMap, BTreeSet};

use crate::arrows::{Arrows, arrows};
use crate::circles::{Graph, circles};
use crate::order::{Debt, OWN, Order};
use crate::tree::Crate;

/// What was found in one crate.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Between what stands in the same folder.
    pub(crate) arrows: usize,
    /// Each arrow that points upward.
    upward: Vec<String>,
    /// Each circle, and the arrows in it.
    circles: Vec<String>,
    in_circles: usize,
    /// What stands in no order.
    unordered: Vec<String>,
}

/// One arrow between two units of a folder: the files, and the path that points.
#[derive(Debug, Clone, Copy)]
struct Arrow<'a> {
    from: &'a str,
    to: &'a str,
    path: &'a str,
}

/// By the two units.
type Between<'a> = BTreeMap<(&'a str, &'a str), Arrow<'a>>;

impl Findings {
    /// Looks at all arrows of the crate.
    pub(crate) fn of(tree: &Crate, order: &Order) -> Self {
        let mut findings = Self::default();
        let arrows = arrows(tree);
        findings.find_circles(&arrows);
        for (folder, between) in by_folder(&arrows) {
            let name = match folder {
                "" => tree.name.clone(),
                folder => format!("{}/{folder}", tree.name),
            };
            findings.arrows += between.len();
            findings.find_upward(&name, &between, order.of_folder(&name));
        }
        findings
    }

    pub(crate) const fn debt(&self) -> Debt {
        Debt { upward: self.upward.len(), in_circles: self.in_circles }
    }

    /// What is to be done about the crate, beside what is known to be; nothing if it is as written down.
    pub(crate) fn complaints(&self, name: &str, known: Debt) -> Vec<String> {
        let found = self.debt();
        let mut lines = self.unordered.clone();
        if found.upward > known.upward {
            lines.extend(self.upward.iter().cloned());
            lines.push(format!("{name}: {} arrows point upward, {} are known", found.upward, known.upward));
        }
        if found.in_circles > known.in_circles {
            lines.extend(self.circles.iter().cloned());
            lines.push(format!(
                "{name}: {} files stand in circles, {} are known",
                found.in_circles, known.in_circles
            ));
        }
        if found.upward < known.upward || found.in_circles < known.in_circles {
            lines.push(format!("{name}: it has become better: write {found:?} down in modules.toml"));
        }
        lines
    }

    fn find_circles(&mut self, arrows: &Arrows) {
        let pairs = arrows.iter().map(|(from, to)| (from.as_str(), to.keys().map(String::as_str).collect()));
        let graph: Graph<'_> = pairs.collect();
        for circle in circles(&graph) {
            self.in_circles += circle.len();
            let files: Vec<_> = circle.iter().map(|file| if file.is_empty() { OWN } else { *file }).collect();
            self.circles.push(format!("a circle of {}: {}", files.len(), files.join(", ")));
            for (from, targets) in arrows.iter().filter(|(from, _)| circle.contains(from.as_str())) {
                let inside = targets.iter().filter(|(to, _)| circle.contains(to.as_str()));
                self.circles.extend(inside.map(|(to, path)| format!("  {from} takes `{path}` of {to}")));
            }
        }
    }

    fn find_upward(&mut self, folder: &str, between: &Between<'_>, order: Option<&[String]>) {
        let order = order.unwrap_or_default();
        let place = |unit: &str| order.iter().position(|known| known == unit);
        let units: BTreeSet<_> = between.keys().flat_map(|(from, to)| [*from, *to]).collect();
        let nowhere: Vec<_> =
            units.into_iter().filter(|unit| *unit != OWN && place(unit).is_none()).collect();
        if !nowhere.is_empty() {
            self.unordered.push(format!("{folder}: the order of these is not written down: {nowhere:?}"));
            return;
        }
        // The folder's own file stands above all in it where the order does not say otherwise.
        let depth = |unit: &str| place(unit).map_or(0, |place| place + 1);
        for ((above, below), Arrow { from, to, path }) in between {
            if depth(above) > depth(below) {
                self.upward
                    .push(format!("{folder}: {above} points up at {below}: {from} takes `{path}` of {to}"));
            }
        }
    }
}

/// The arrows between what stands in the same folder, by folder.
fn by_folder(arrows: &Arrows) -> BTreeMap<&str, Between<'_>> {
    let mut folders: BTreeMap<&str, Between<'_>> = BTreeMap::new();
    for (from, targets) in arrows {
        for (to, path) in targets {
            let folder = shared_folder(from, to);
            let ends = (step_below(folder, from), step_below(folder, to));
            folders.entry(folder).or_default().entry(ends).or_insert(Arrow { from, to, path });
        }
    }
    folders
}

/// The folder that both stand in; of a file and what is in its folder, that folder.
fn shared_folder<'a>(one: &'a str, other: &str) -> &'a str {
    let is_shared = |end: usize| {
        let ends_there = |file: &str| file.len() == end || file.as_bytes().get(end) == Some(&b'/');
        one.get(..end) == other.get(..end) && ends_there(one) && ends_there(other)
    };
    let end = (1..=one.len().min(other.len())).rev().find(|end| is_shared(*end));
    end.and_then(|end| one.get(..end)).unwrap_or_default()
}

/// What of the folder the file is in; [`OWN`] for the folder's own file.
fn step_below<'a>(folder: &str, file: &'a str) -> &'a str {
    let below = file.strip_prefix(folder).unwrap_or(file).trim_start_matches('/');
    below.split('/').next().filter(|step| !step.is_empty()).unwrap_or(OWN)
}
