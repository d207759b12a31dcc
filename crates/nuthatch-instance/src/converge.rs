//! A host as one text: what is to be there is compared with what is, shown as a plan, and done.
//!
//! The plan is made on a copy of the records, by the code that does it then: what would be refused on the way is refused before anything is
//! touched. What is there and not in the text is left alone.

pub(crate) mod described;
pub(crate) mod plan;
pub(crate) mod stage;
