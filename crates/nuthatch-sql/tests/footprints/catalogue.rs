//! The tables that the statements are about.

use super::super::{
    Cascades, Catalogue, ComparedColumn, ComparedColumns, Holds, PrimaryKey, SideEffects, Table, TableId,
    Unsuitable,
};

/// A catalogue, and the names of its tables.
pub(crate) struct Shop {
    pub(crate) catalogue: Catalogue,
    names: Vec<String>,
}

impl Shop {
    pub(crate) fn new() -> Self {
        let mut shop = Self { catalogue: Catalogue::default(), names: Vec::new() };
        let orders = shop.add("orders", |table| table.key = Some(given(int("id"))));
        let users = shop.add("users", |table| table.key = Some(given(key("id", 0, u64::MAX))));
        // A key behind another column, not given by the server.
        shop.add("tiny", |table| {
            table.key = Some(PrimaryKey { position: Some(1), ..key("Code", -128, 127) });
        });
        // Where the key stands is not certain.
        shop.add("odd", |table| table.key = Some(given(PrimaryKey { position: None, ..int("id") })));
        // A row may stand in another's way by another index than its key.
        shop.add("doubly", |table| {
            table.key = Some(PrimaryKey { is_only_unique: false, ..given(int("id")) });
        });
        // A key of two columns, and none.
        shop.add("lines", |_| {});
        let log = shop.add("log", |_| {});
        // A cascade, a trigger, a trigger that calls a procedure.
        let child = shop.add("child", |_| {});
        shop.add_parents(child);
        shop.add("audited", |table| table.side_effects = SideEffects::Tables([log].into()));
        shop.add("hooked", |table| table.side_effects = SideEffects::Everything);
        let legacy = shop.add("legacy", |table| {
            table.key = Some(given(int("id")));
            table.unsuitable = Some(Unsuitable::Engine);
            table.is_transactional = false;
        });
        shop.add("mixed", |table| table.side_effects = SideEffects::Tables([legacy].into()));
        let open = shop.add_view("open_orders", &[orders, users]);
        let recent = shop.add_view("recent_orders", &[open, orders, users]);
        shop.add("today", |table| table.unsuitable = Some(Unsuitable::View));
        shop.add("calling", |table| {
            table.is_view = true;
            table.unsuitable = Some(Unsuitable::CallingView);
            table.side_effects = SideEffects::Everything;
        });
        // A view that calls code, of a table that may change below it.
        let under = shop.add("under", |_| {});
        shop.add("over_under", |table| {
            table.is_view = true;
            table.reads = [table.id, under].into();
            table.unsuitable = Some(Unsuitable::CallingView);
            table.side_effects = SideEffects::Everything;
        });
        // A view of a table that may keep its rows anywhere.
        shop.add("far_orders", |table| {
            table.is_view = true;
            table.unsuitable = Some(Unsuitable::View);
            table.side_effects = SideEffects::Everything;
        });
        shop.add("ticks", |table| table.unsuitable = Some(Unsuitable::Sequence));
        // Columns of type TIME; in `shifts` there is a DATE too.
        shop.add("shifts", |table| {
            table.key = Some(given(int("id")));
            table.time_columns = [&b"begins"[..], b"ends", b"time"].map(Box::from).into();
        });
        shop.add("pauses", |table| table.time_columns = [Box::from(&b"begins"[..])].into());
        shop.add("Customers", |table| table.key = Some(given(int("ID"))));
        shop.add_posts();
        // Names that a column or a keyword may have as well.
        shop.add("status", |_| {});
        shop.add("read", |table| table.key = Some(given(int("key"))));
        shop.add("a`b", |_| {});
        shop.add("7up", |_| {});
        shop.add("1e5", |_| {});
        shop.add("255", |_| {});
        shop.add("256", |_| {});
        shop.add("depot.stock", |table| table.key = Some(given(int("id"))));
        shop.add("depot.orders", |table| table.key = Some(given(int("id"))));
        // They have the names of functions that some servers have.
        for function in ["Nvl", "m\u{e9}dian", "random_bytes", "own_function"] {
            shop.catalogue.add_stored_function(function.as_bytes());
        }
        // A trigger that names a table that is not there.
        shop.catalogue.add_code(b"INSERT INTO hidden_log VALUES (1)");
        assert_eq!(shop.name(recent), "recent_orders");
        shop
    }

    /// Those whose columns are told apart by what they hold.
    fn add_posts(&mut self) {
        self.add("posts", |table| {
            table.key = Some(int("id"));
            table.compared = compared(&[
                ("id", int_range()),
                ("slug", Holds::Strings),
                ("kind", Holds::Strings),
                ("author", int_range()),
            ]);
        });
        self.add("bookings", |table| {
            table.compared = compared(&[
                ("id", int_range()),
                ("day", Holds::Dates),
                ("at", Holds::Moments),
                ("price", Holds::Decimals { scale: 2 }),
                ("state", Holds::members([&b"open"[..], b"Shut"]).expect("they are plain")),
            ]);
        });
        self.add("notes", |table| {
            table.compared = compared(&[("id", int_range()), ("slug", Holds::Strings)]);
        });
    }

    /// Tables with foreign keys to them that cascade.
    fn add_parents(&mut self, child: TableId) {
        self.add("parent", |table| {
            table.key = Some(given(int("id")));
            table.side_effects = cascades(Some(&[child]), Some(&[child]), &["id", "code"]);
        });
        // Cascades when rows are removed only; into itself; beyond what is known.
        self.add("folder", |table| {
            table.key = Some(given(int("id")));
            table.side_effects = cascades(Some(&[child, table.id]), Some(&[]), &[]);
        });
        self.add("rooted", |table| {
            table.key = Some(int("id"));
            table.side_effects = cascades(None, Some(&[child]), &["a"]);
        });
    }

    /// Its name in tests.
    pub(crate) fn name(&self, table: TableId) -> &str {
        &self.names[usize::try_from(table.0).expect("a small number")]
    }

    fn add(&mut self, name: &str, change: impl FnOnce(&mut Table)) -> TableId {
        let id = TableId(u32::try_from(self.names.len()).expect("a few tables"));
        let mut table = Table {
            id,
            is_view: false,
            time_columns: [].into(),
            compared: ComparedColumns::default(),
            key: None,
            reads: [id].into(),
            unsuitable: None,
            side_effects: SideEffects::Tables([].into()),
            is_transactional: true,
            definition: 0,
        };
        change(&mut table);
        let (schema, short) = name.split_once('.').unwrap_or(("shop", name));
        self.catalogue.insert(schema.as_bytes(), short.as_bytes(), table);
        self.names.push(name.to_owned());
        id
    }

    fn add_view(&mut self, name: &str, of: &[TableId]) -> TableId {
        self.add(name, |table| {
            table.is_view = true;
            table.reads = [&[table.id], of].concat().into();
            table.side_effects = SideEffects::Tables(of.into());
        })
    }
}

fn key(column: &str, min: i64, max: u64) -> PrimaryKey {
    PrimaryKey {
        column: column.to_ascii_lowercase().as_bytes().into(),
        min,
        max,
        position: Some(0),
        is_auto_increment: false,
        is_only_unique: true,
    }
}

fn int_range() -> Holds {
    Holds::Integers { min: i64::from(i32::MIN), max: 2_147_483_647 }
}

fn compared(columns: &[(&str, Holds)]) -> ComparedColumns {
    let column = |(position, (name, holds)): (u16, &(&str, Holds))| ComparedColumn {
        name: name.as_bytes().into(),
        position,
        holds: holds.clone(),
    };
    let names = columns.iter().map(|(name, _)| name.as_bytes().into()).collect();
    ComparedColumns { all: 4, columns: (0..).zip(columns).map(column).collect(), names }
}

fn int(column: &str) -> PrimaryKey {
    key(column, i64::from(i32::MIN), 2_147_483_647)
}

fn cascades(of_removal: Option<&[TableId]>, of_change: Option<&[TableId]>, columns: &[&str]) -> SideEffects {
    let referenced = columns.iter().map(|name| name.as_bytes().into()).collect();
    let of_removal = of_removal.map(Box::from);
    SideEffects::Cascades(Box::new(Cascades { of_removal, of_change: of_change.map(Box::from), referenced }))
}

fn given(key: PrimaryKey) -> PrimaryKey {
    PrimaryKey { is_auto_increment: true, ..key }
}
