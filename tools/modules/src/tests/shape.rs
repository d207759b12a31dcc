//! Crates that keep their shape, and ones that do not.

use super::check;
use crate::order::Order;

/// A house with a room: `whole` defines what only it and what is in `life` take; `steps` and `parts` are the rest.
const ROOT: (&str, &str) = ("lib.rs", "mod room;");
const ROOM: (&str, &str) =
    ("room.rs", "mod life; mod whole; mod steps; mod parts; pub use whole::Whole; pub use parts::Part;");
const WHOLE: (&str, &str) = (
    "room/whole.rs",
    "pub struct Whole { part: super::Part } impl Drop for Whole { fn drop(&mut self) {} } impl Whole { fn f(&self) {} }",
);
const LIFE: (&str, &str) = ("room/life.rs", "mod run;");
const RUN: (&str, &str) = ("room/life/run.rs", "use crate::room::Whole; fn f(_: &mut Whole, _: &Whole) {}");
const PARTS: (&str, &str) = ("room/parts.rs", "mod part; mod plug; pub use part::Part;");
const PART: (&str, &str) =
    ("room/parts/part.rs", "pub struct Part; #[cfg(test)] mod tests { #[test] fn f() { super::Part; } }");
const PLUG: (&str, &str) = ("room/parts/plug.rs", "pub struct Plug;");

const ORDER: &str = r#"
    house = ["room", "shed"]
    "house/room" = ["life", "whole", "steps", "parts"]
    "house/room/parts" = ["part", "plug"]
    [shape.house]
    impl_files_max = 2
    folder_files_max = 4
    [shape."house/room"]
    fields_max = 3
    whole = "whole::Whole"
    composing = ["life", "whole"]
    parts = "parts"
    open_parts = []
    tested_parts_min = 1
    tested_without = ["Socket", "Whole"]
"#;

/// The room with these steps.
#[track_caller]
fn check_steps(steps: &str, expected: &[&str]) {
    check(&[ROOT, ROOM, WHOLE, LIFE, RUN, PARTS, PART, PLUG, ("room/steps.rs", steps)], ORDER, expected);
}

/// The room with a part whose tests are these; `beside` is in the folder of that part's tests.
#[track_caller]
fn check_tests(part: &str, beside: &str, expected: &[&str]) {
    let steps = ("room/steps.rs", "");
    let part = ("room/parts/part.rs", part);
    let beside = ("room/parts/part/tests.rs", beside);
    check(&[ROOT, ROOM, WHOLE, LIFE, RUN, PARTS, part, PLUG, steps, beside], ORDER, expected);
}

const TOO_FEW: &[&str] =
    &["house/room/parts: 0 files have tests that name none of Socket, Whole, 1 at least"];

#[test]
fn struct_with_too_many_fields_is_found() {
    check_steps("struct Large { a: u8, b: u8, c: u8 }", &[]);
    check_steps("#[cfg(test)] struct Large { a: u8, b: u8, c: u8, d: u8 }", &[]);
    let told = ["house/room/steps.rs: the struct Large has 4 fields, 3 at most"];
    check_steps("struct Large { a: u8, b: u8, c: u8, d: u8 }", &told);
    check_steps("struct Large(u8, u8, u8, u8);", &told);
    check_steps("fn f() { struct Large(u8, u8, u8, u8); }", &told);
    check_steps("mod inner { struct Large(u8, u8, u8, u8); }", &told);
}

#[test]
fn part_that_shows_a_field_is_found_unless_it_is_named() {
    let check_part = |part: &str, order: &str, expected: &[&str]| {
        let part =
            format!("{part} pub struct Part; #[cfg(test)] mod tests {{ #[test] fn f() {{ super::Part; }} }}");
        let (steps, part) = (("room/steps.rs", ""), ("room/parts/part.rs", &*part));
        check(&[ROOT, ROOM, WHOLE, LIFE, RUN, PARTS, part, PLUG, steps], order, expected);
    };
    check_part("struct Closed { a: u8 }", ORDER, &[]);
    check_part("#[cfg(test)] struct OfTests { pub a: u8 }", ORDER, &[]);
    let told = ["house/room/parts/part.rs: the struct Open shows a field; open_parts does not name it"];
    for open in [
        "struct Open { a: u8, pub b: u8 }",
        "struct Open { pub(crate) a: u8 }",
        "struct Open(pub(super) u8);",
    ] {
        check_part(open, ORDER, &told);
        check_part(open, &ORDER.replace("open_parts = []", "open_parts = [\"Open\"]"), &[]);
    }
    let told = ["house/room/parts: open_parts names Open, which shows no field"];
    check_part("struct Open(u8);", &ORDER.replace("open_parts = []", "open_parts = [\"Open\"]"), &told);
    check_steps("struct Step { pub a: u8 }", &[]);
}

#[test]
fn struct_with_many_fields_in_another_folder_is_none_of_the_rooms() {
    let root = ("lib.rs", "mod room; mod roomy;");
    let roomy = ("roomy.rs", "struct Large(u8, u8, u8, u8);");
    let steps = ("room/steps.rs", "");
    check(&[root, roomy, ROOM, WHOLE, LIFE, RUN, PARTS, PART, PLUG, steps], ORDER, &[]);
}

#[test]
fn function_that_takes_the_whole_and_composes_nothing_is_found() {
    for steps in [
        "use super::Whole; fn step(_: &mut Whole) {}",
        "use super::Whole; fn step(_: &Whole) {}",
        "use super::Whole; fn step(_: Whole) {}",
        "use super::Whole; fn step<'a>(_: u8, _: &'a mut Whole) {}",
        "use super::Whole; async fn step(_: Option<&mut Whole>) {}",
        "use super::Whole; fn step(_: impl Fn(&mut Whole)) {}",
        "use super::Whole; fn step<F>(_: F) where F: Fn(&Whole) {}",
        "use super::Whole; trait Step { fn step(_: &Whole); }",
        "use super::Whole; mod inner { fn step(_: &super::Whole) {} }",
        "use super::Whole; type All = Whole; fn step(_: &All) {}",
        "use super::Whole; impl Whole { fn step(&mut self) {} }",
        "use super::Whole; impl Whole { fn step(_: &Self) {} }",
        "use crate::room::Whole as All; fn step(_: &mut All) {}",
        "use crate::room; fn step(_: &mut room::Whole) {}",
        "mod inner { use super::super::whole::Whole as All; fn step(_: &mut All) {} } use super::Whole;",
    ] {
        let told = [
            "points up",
            "upward",
            "house/room/steps.rs: `step` takes the whole Whole; only life, whole may",
        ];
        check_steps(steps, &told);
    }
}

#[test]
fn function_that_takes_a_part_or_what_has_only_the_name_of_the_whole_is_fine() {
    check_steps("use super::Part; fn step(_: &mut Part) {}", &[]);
    check_steps(
        "struct Whole; impl Whole { fn step(&mut self, _: &Self) {} } fn step(_: &mut Whole) {}",
        &[],
    );
    check_steps("enum Of { Whole } fn step(_: Of) -> bool { matches!(Of::Whole, Of::Whole) }", &[]);
    check_steps("#[cfg(test)] mod tests { use super::super::Whole; fn step(_: &mut Whole) {} }", &[]);
}

#[test]
fn function_outside_of_the_folder_may_take_the_whole() {
    let root = ("lib.rs", "mod room; mod shed;");
    let shed = ("shed.rs", "fn f(_: &mut crate::room::Whole) {}");
    let steps = ("room/steps.rs", "");
    let files = [root, shed, ROOM, WHOLE, LIFE, RUN, PARTS, PART, PLUG, steps];
    check(&files, ORDER, &["shed points up at room", "1 arrows point upward"]);
}

#[test]
fn part_counts_as_tested_if_its_tests_need_no_whole() {
    check_tests("pub struct Part; #[cfg(test)] mod tests { #[tokio::test] async fn f() {} }", "", &[]);
    check_tests("pub struct Part; #[cfg(test)] mod tests;", "#[test] fn f() {}", &[]);
    check_tests("pub struct Part; #[cfg(test)] mod tests { #[test] fn f() { \"Socket\"; } }", "", &[]);
    check_tests("pub struct Part; struct Socket; #[cfg(test)] mod tests { #[test] fn f() {} }", "", &[]);
}

#[test]
fn too_few_tested_parts_are_told() {
    check_tests("pub struct Part;", "#[test] fn f() {}", TOO_FEW);
    check_tests("pub struct Part; mod tests { #[test] fn f() {} }", "", TOO_FEW);
    check_tests("pub struct Part; #[cfg(test)] mod tests { fn helper() {} }", "", TOO_FEW);
    check_tests("pub struct Part; #[cfg(test)] mod tests { #[test] fn f() { Socket::open() } }", "", TOO_FEW);
    check_tests(
        "pub struct Part; #[cfg(test)] mod tests { #[test] fn f() { assert!(Socket) } }",
        "",
        TOO_FEW,
    );
    check_tests("pub struct Part; #[cfg(test)] mod tests;", "use a::Socket; #[test] fn f() {}", TOO_FEW);
}

/// The house with a shed of three files beside the room, in each of which stands something.
#[track_caller]
fn check_shed(files: [&str; 3], expected: &[&str]) {
    let [first, second, third] = files;
    let files = [
        ("lib.rs", "mod room; mod shed;"),
        ("shed.rs", "mod first; mod second; mod third;"),
        ("shed/first.rs", first),
        ("shed/second.rs", second),
        ("shed/third.rs", third),
        ROOM,
        WHOLE,
        LIFE,
        RUN,
        PARTS,
        PART,
        PLUG,
        ("room/steps.rs", ""),
    ];
    check(&files, &format!("\"house/shed\" = [\"third\", \"second\", \"first\"]\n{ORDER}"), expected);
}

#[test]
fn type_whose_impl_blocks_stand_in_too_many_files_is_found() {
    let first = "pub struct Tool<T>(T); impl<T> Tool<T> {}";
    for third in [
        "use super::first::Tool; impl Tool<u8> {}",
        "use super::first::Tool; impl Clone for &Tool<u8> {}",
        "use super::first::Tool as Saw; impl Clone for Saw<u8> {}",
        "use super::first; type Saw = first::Tool<u8>; impl Saw {}",
        "mod inner { use super::super::first::Tool; impl Tool<u8> {} } use super::first::Tool;",
    ] {
        let told = "house/shed/first.rs: Tool has impl blocks in 3 files, 2 at most: house/shed/first.rs, \
                    house/shed/second.rs, house/shed/third.rs";
        check_shed([first, "impl Clone for super::first::Tool<u8> {}", third], &[told]);
    }
}

#[test]
fn blocks_of_other_types_and_of_tests_do_not_add_up() {
    let (first, second) =
        ("pub struct Tool; impl Tool {} impl Drop for Tool {}", "use super::first::Tool; impl Tool {}");
    for third in [
        "",
        "struct Tool; impl Tool {}",
        "use super::first::Tool; #[cfg(test)] mod tests { use super::*; impl Tool {} }",
        "use super::first::Tool; #[cfg(test)] impl Tool {}",
        "use super::first::Tool; impl<Tool> Clone for Tool {}",
        "use super::first::Tool; impl Clone for Vec<Tool> {} impl Vec<Tool> {}",
        "use super::first::Tool; impl From<Tool> for u8 {}",
    ] {
        check_shed([first, second, third], &[]);
    }
}

#[test]
fn folder_in_which_too_much_stands_is_found() {
    let steps = ("room/steps.rs", "mod a; mod b; mod c; mod d; #[cfg(test)] mod tests;");
    let (a, b) = (("room/steps/a.rs", "mod deep;"), ("room/steps/b.rs", ""));
    let (c, d, e) = (("room/steps/c.rs", ""), ("room/steps/d.rs", ""), ("room/steps/e.rs", ""));
    let (deep, tests) = (("room/steps/a/deep.rs", ""), ("room/steps/tests.rs", ""));
    let common = [ROOT, ROOM, WHOLE, LIFE, RUN, PARTS, PART, PLUG, a, b, c, d, e, deep, tests];
    check(&[&common[..], &[steps]].concat(), ORDER, &[]);
    let steps = ("room/steps.rs", "mod a; mod b; mod c; mod d; mod e;");
    let told = "house/room/steps: 5 files and folders stand in it, 4 at most";
    check(&[&common[..], &[steps]].concat(), ORDER, &[told]);
}

#[test]
fn folder_or_whole_that_is_not_there_is_told() {
    check(&[("lib.rs", "")], ORDER, &["house/room: [shape] speaks of it, and it is not there"]);
    let moved = ("room.rs", "mod life; mod steps; mod parts;");
    let steps = ("room/steps.rs", "");
    let files = [ROOT, moved, LIFE, ("room/life/run.rs", ""), PARTS, PART, PLUG, steps];
    check(&files, ORDER, &["house/room: whole::Whole is nowhere"]);
}

#[test]
fn limits_that_say_too_little_or_what_is_not_known_are_refused() {
    let refusal = |shape: &str| {
        let text = format!("[crates]\nhouse = \"house\"\n[known]\n[order]\n[shape]\n{shape}");
        format!("{:#}", Order::parse(&text).expect_err("refused"))
    };
    assert!(refusal("[shape.house]\nimpl_files_max = 1").contains("folder_files_max is missing"));
    let more = "[shape.house]\nimpl_files_max = 1\nfolder_files_max = 1\nfield_max = 1";
    assert!(refusal(more).contains("not known: [\"field_max\"]"));
    let elsewhere = "[shape.shed]\nimpl_files_max = 1\nfolder_files_max = 1";
    assert!(refusal(elsewhere).contains("not in [crates]: Some(\"shed\")"));
}
