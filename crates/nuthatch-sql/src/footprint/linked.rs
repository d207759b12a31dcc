//! Columns of two tables that a statement demands to be equal: what is known of one is known of the other.
//!
//! `t.id = u.t AND t.id IN (4, 7)` shows rows of `u` only that hold 4 or 7 in `t`, and no other row of `u` takes part in what becomes of
//! the answer. Behind `t LEFT JOIN u ON u.t = t.id` this holds too: a row of `u` with another value neither stands beside a row of `t` that is
//! shown nor in the place of its NULLs. The other way round only what the WHERE demands of `u` tells of `t`: there the row of NULLs is left
//! out. What is told of `u` by an ON that it may fail is *weak*: it holds of the rows of `u` that are shown, of which there may be none.
//!
//! Integers only: two strings may be equal by another collation than that of the constant.

use super::equality::{By, Equal};
use super::keyword::{Keyword, ends_condition_of_join};
use super::predicate::{Demands, ends_where, take_condition_of};
use crate::classify::cursor::Cursor;
use crate::compared::Holds;

/// A column of a table, by their places.
type Place = (usize, u16);

/// The tables of a statement, in order.
pub(super) struct Tables<'b, 'q>(pub(super) Vec<By<'b, 'q>>);

/// Two columns that have to be equal, and what follows from what.
pub(super) struct Link {
    columns: [Place; 2],
    reach: Reach,
}

/// What a link tells.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Of both columns.
    Both,
    /// It is the condition on which the table at that place is joined by LEFT JOIN to those before it.
    LeftInto(usize),
}

/// What the WHERE demands that comes next.
pub(super) fn links_of_where(mut cursor: Cursor<'_>, tables: &Tables<'_, '_>) -> impl Iterator<Item = Link> {
    let Links(found) = take_condition_of::<Links<false>>(&mut cursor, tables).unwrap_or_default();
    found.into_iter().map(|columns| Link { columns, reach: Reach::Both })
}

/// What the condition of a join demands that comes next, of the tables that may be named in it.
pub(super) fn links_of_on(
    mut cursor: Cursor<'_>,
    tables: &Tables<'_, '_>,
    reach: Reach,
) -> impl Iterator<Item = Link> {
    let Links(found) = take_condition_of::<Links<true>>(&mut cursor, tables).unwrap_or_default();
    found.into_iter().map(move |columns| Link { columns, reach })
}

/// Adds what follows of other columns from what is demanded of some by the WHERE.
pub(super) fn link_all(demanded: &mut [Equal], links: &[Link]) {
    let mut weak: Vec<Place> = Vec::new();
    let next = |demanded: &[Equal], weak: &[Place]| {
        links.iter().find_map(|link| {
            let [one, other] = link.columns;
            [(one, other), (other, one)].into_iter().find_map(|(from, to)| {
                let values = values(demanded, from).filter(|_| values(demanded, to).is_none())?;
                Some((to, values.to_vec(), link.tells_weakly((from, weak.contains(&from)), to)?))
            })
        })
    };
    // Each round but the last tells of one more column at least.
    while let Some((to, values, is_weak)) = next(demanded, &weak) {
        if is_weak {
            weak.push(to);
        }
        match demanded.get_mut(to.0) {
            Some(table) => table.add((to.1, values)),
            None => return,
        }
    }
}

/// What is demanded of the column.
fn values(demanded: &[Equal], (table, column): Place) -> Option<&[u64]> {
    demanded.get(table)?.values(column)
}

impl Link {
    /// Whether what it tells of `to`, by what is demanded of `from`, weakly or not, is weak; none if it tells nothing.
    fn tells_weakly(&self, (from, is_weak): (Place, bool), to: Place) -> Option<bool> {
        match self.reach {
            Reach::Both => Some(is_weak),
            Reach::LeftInto(table) if to.0 == table => Some(true),
            Reach::LeftInto(table) => (from.0 == table && !is_weak).then_some(false),
        }
    }
}

/// Equal columns, in no order: of the condition of a join, or of the WHERE.
#[derive(Default)]
struct Links<const OF_JOIN: bool>(Vec<[Place; 2]>);

impl<const OF_JOIN: bool> Demands for Links<OF_JOIN> {
    type Condition = [Place; 2];
    type By<'b, 'q> = Tables<'b, 'q>;

    fn take_condition(cursor: &mut Cursor<'_>, tables: &Tables<'_, '_>) -> Option<[Place; 2]> {
        let one = take_column(cursor, tables)?;
        cursor.take_symbol(b'=').then_some(())?;
        let other = take_column(cursor, tables)?;
        (one.0 != other.0).then_some([one, other])
    }

    fn add(&mut self, link: [Place; 2]) {
        self.0.push(link);
    }

    fn add_all(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Not looked into.
    fn or(self, _other: Self) -> Self {
        Self::default()
    }

    fn is_over(cursor: &Cursor<'_>) -> bool {
        if OF_JOIN { ends_condition_of_join(cursor) } else { Keyword::next(cursor).is_some_and(ends_where) }
    }
}

/// Takes the name of a column of integers; none, with anything taken, if another thing stands here.
fn take_column(cursor: &mut Cursor<'_>, Tables(tables): &Tables<'_, '_>) -> Option<Place> {
    let (place, column, ahead) = tables.iter().enumerate().find_map(|(place, by)| {
        let mut ahead = cursor.clone();
        let column = by.take_column(&mut ahead)?;
        matches!(column.holds, Holds::Integers { .. }).then_some((place, column.position, ahead))
    })?;
    *cursor = ahead;
    Some((place, column))
}
