//! Small crates, each with something that must be found, or must not.

mod shape;

use std::path::Path;

use crate::judge::Findings;
use crate::order::Order;
use crate::sentence::first_sentence;
use crate::shape::Shape;
use crate::tree::Crate;

/// What is said of a crate of these files, whose order is that.
fn complaints(files: &[(&str, &str)], order: &str) -> Vec<String> {
    let folder = tempfile::tempdir().expect("there is room");
    for (file, text) in files {
        let path = folder.path().join("src").join(file);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    let order = Order::parse(&format!("[crates]\nhouse = \"house\"\n[known]\n[shape]\n[order]\n{order}"))
        .expect("an order");
    let tree = Crate::read("house", folder.path()).expect("a crate");
    let mut lines = Findings::of(&tree, &order).complaints("house", order.known_of("house"));
    lines.extend(Shape::of(&tree, &order.limits).complaints);
    lines
}

const ORDER: &str = r#"house = ["roof", "walls", "cellar"]"#;

#[track_caller]
fn check(files: &[(&str, &str)], order: &str, expected: &[&str]) {
    let lines = complaints(files, order);
    assert_eq!(lines.len(), expected.len(), "{lines:#?}");
    for (line, expected) in lines.iter().zip(expected) {
        assert!(line.contains(expected), "{line} does not tell of {expected}");
    }
}

#[test]
fn arrows_downward_are_as_they_should_be() {
    let files = [
        ("lib.rs", "mod roof; mod walls; mod cellar; pub use roof::Tile;"),
        ("roof.rs", "use crate::walls::Wall; pub struct Tile(Wall); fn f() { crate::cellar::dig() }"),
        ("walls.rs", "pub struct Wall;"),
        ("cellar.rs", "pub fn dig() {} #[cfg(test)] mod tests { use crate::roof::Tile; }"),
    ];
    check(&files, ORDER, &[]);
}

#[test]
fn arrow_upward_is_found_however_it_is_written() {
    let roof = ("roof.rs", "pub struct Tile; impl Tile { pub const COUNT: usize = 1; } pub fn f() {}");
    let walls = ("walls.rs", "pub use crate::roof::Tile as Slate; pub use super::roof;");
    for cellar in [
        "use crate::roof::Tile;",
        "use super::{walls::Wall, roof::{self, Tile}};",
        "fn f() -> usize { crate::roof::Tile::COUNT }",
        "fn f() { use crate::roof as above; above::f() } mod inner { fn g() { crate::roof::f() } }",
        "fn f() { println!(\"{}\", crate::roof::Tile::COUNT) }",
        "use crate::walls::Slate;",
        "fn f(_: crate::walls::Slate) {}",
        "use crate::walls::roof as high; fn f() { high::f() }",
        "use crate::*; fn f() { roof::f() }",
        "impl crate::Cover for u8 { fn cover() { super::roof::f() } }",
    ] {
        let files = [
            (
                "lib.rs",
                "mod roof; mod walls; mod cellar; pub use roof::Tile; pub trait Cover { fn cover(); }",
            ),
            roof,
            walls,
            ("cellar.rs", cellar),
        ];
        let found = complaints(&files, ORDER);
        let is_told = |line: &String| line.contains("cellar points up at roof");
        assert!(found.iter().any(is_told), "{cellar}: {found:#?}");
    }
}

#[test]
fn what_only_looks_like_an_arrow_is_none() {
    let files = [
        ("lib.rs", "mod roof; mod walls; mod cellar;"),
        ("roof.rs", "pub struct Tile; mod deep;"),
        ("roof/deep.rs", "pub struct Rafter;"),
        ("walls.rs", "pub use crate::roof::Tile;"),
        (
            "cellar.rs",
            "/// crate::roof::Tile\nfn f() { let roof = \"crate::roof::Tile\"; drop(roof); } \
             #[test] fn g() { let _ = crate::roof::Tile; } #[cfg(test)] impl crate::roof::Tile {}",
        ),
    ];
    check(&files, ORDER, &[]);
}

#[test]
fn circle_is_found_though_each_of_its_arrows_is_within_a_unit() {
    let files = [
        ("lib.rs", "mod roof;"),
        ("roof.rs", "mod tile; mod slate; pub use tile::Tile;"),
        ("roof/tile.rs", "pub struct Tile; use super::slate::Slate;"),
        ("roof/slate.rs", "pub struct Slate; use super::Tile;"),
    ];
    check(
        &files,
        r#""house/roof" = ["tile", "slate"]"#,
        &[
            "slate points up at tile",
            "1 arrows point upward",
            "a circle of 2",
            "takes",
            "takes",
            "2 files stand in circles",
        ],
    );
}

#[test]
fn folders_own_file_stands_above_unless_the_order_says_otherwise() {
    let files = [
        ("lib.rs", "mod roof;"),
        ("roof.rs", "mod tile; pub struct Slope; pub use tile::Tile;"),
        ("roof/tile.rs", "pub struct Tile(super::Slope);"),
    ];
    check(&files, r#""house/roof" = ["tile"]"#, &["tile points up at .", "1 arrows point upward"]);
    check(&files, r#""house/roof" = ["tile", "."]"#, &[]);
}

#[test]
fn what_stands_in_no_order_is_told() {
    let files = [
        ("lib.rs", "mod roof; mod walls;"),
        ("roof.rs", "use crate::walls::Wall;"),
        ("walls.rs", "pub struct Wall;"),
    ];
    check(&files, r#"house = ["roof"]"#, &["not written down: [\"walls\"]"]);
}

#[test]
fn sentence_ends_where_it_ends() {
    let of =
        |lines: &[&str]| first_sentence(&lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>());
    assert_eq!(of(&[" One thing.", "", " More."]), "One thing.");
    assert_eq!(of(&[" One thing, told on", " two lines. Then more."]), "One thing, told on two lines.");
    assert_eq!(of(&[" `a.rs` is one, e.g. of two. Then more."]), "`a.rs` is one, e.g. of two.");
    assert_eq!(of(&[]), "");
}
