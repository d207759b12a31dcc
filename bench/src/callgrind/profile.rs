//! Reads what callgrind writes: instructions by function.
//!
//! The format is in valgrind's manual, "Callgrind Format Specification". Only what a function executes itself is
//! counted (the line behind `calls=` is what it called); what the compiler inlined counts for where it went.

use std::collections::HashMap;

/// Instructions of one function itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SelfCost {
    pub(super) function: String,
    pub(super) instructions: u64,
}

/// All functions of a dump, the dearest first.
pub(super) fn self_costs(dump: &str) -> Vec<SelfCost> {
    let mut names = HashMap::new();
    let mut costs: HashMap<&str, u64> = HashMap::new();
    let (mut function, mut is_called) = ("", false);
    for line in dump.lines() {
        if let Some(reference) = line.strip_prefix("fn=") {
            function = number_of(reference, &mut names);
        } else if let Some(reference) = line.strip_prefix("cfn=") {
            number_of(reference, &mut names);
        } else if line.starts_with("calls=") {
            is_called = true;
        } else if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) {
            let cost = line.split_ascii_whitespace().nth(1).and_then(|word| word.parse::<u64>().ok());
            if !std::mem::take(&mut is_called) {
                *costs.entry(function).or_default() += cost.unwrap_or(0);
            }
        }
    }
    let name = |number| names.get(number).copied().unwrap_or("?").to_owned();
    let mut sorted: Vec<_> = costs
        .into_iter()
        .map(|(number, instructions)| SelfCost { function: name(number), instructions })
        .collect();
    sorted.sort_by_key(|cost| (std::cmp::Reverse(cost.instructions), cost.function.clone()));
    sorted
}

/// `(12) name` defines a number and `(12)` refers to it.
fn number_of<'a>(reference: &'a str, names: &mut HashMap<&'a str, &'a str>) -> &'a str {
    let (number, name) = reference.split_once(' ').unwrap_or((reference, ""));
    if !name.is_empty() {
        names.insert(number, name);
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_function_calls_is_not_its_own() {
        let dump = "events: Ir\nfn=(1) main\n10 5\ncfn=(2) leaf\ncalls=3 20\n+1 900\n+2 6\n\nfn=(2)\n* 900\ntotals: 911\n";
        let cost = |function: &str, instructions| SelfCost { function: function.to_owned(), instructions };
        assert_eq!(self_costs(dump), [cost("leaf", 900), cost("main", 11)]);
    }
}
