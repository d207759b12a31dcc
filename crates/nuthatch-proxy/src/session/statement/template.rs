//! What statements of one shape write, remembered with what else they have in common.
//!
//! One template is remembered for a shape: that of the schema, server and picture of the catalogues for which one was made last. It is
//! of no use for others, nor by a newer picture. A shape that is seen for the first time is not worth one.
//!
//! What is asked of a template instead of the long way is the footprint, and that no row comes later than its statement
//! ([`may_insert_delayed`]): no literal changes either.

use std::sync::{Arc, Weak};

use nuthatch_config::HostgroupId;
use nuthatch_sql::{
    Catalogue, Class, Lexing, Parameter, WriteFootprint, WriteTemplate, may_insert_delayed, write_footprint,
};
use parking_lot::Mutex;

use crate::backend::Server;
use crate::exact::Catalogues;

/// So often one is made by one picture: statements of one shape may take turns in different schemas, or have keys of which none is made.
const TRIES_MAX: u8 = 8;

/// A statement that is about to be sent, by which picture, and where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) class: Class,
    pub(crate) lexing: Lexing,
    pub(crate) schema: &'a [u8],
    pub(crate) parameters: &'a [Parameter],
    pub(crate) by: &'a Catalogues,
    pub(crate) hostgroup: HostgroupId,
    pub(crate) server: &'a Arc<Server>,
}

/// See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct Template(Mutex<Option<Box<Made>>>);

#[derive(Debug)]
struct Made {
    picture: u64,
    hostgroup: HostgroupId,
    /// That it is another server can be told even when this one is gone.
    server: Weak<Server>,
    tries_left: u8,
    template: Option<WriteTemplate>,
}

impl Template {
    /// The footprint of a statement of this shape, if it is remembered how it is found.
    pub(crate) fn footprint(&self, written: &Written<'_>) -> Option<WriteFootprint> {
        let made = self.0.lock();
        let made = made.as_ref().filter(|made| made.is_for(written))?;
        let Written { text, class, lexing, schema, parameters, .. } = *written;
        made.template.as_ref()?.footprint(text, class, lexing, schema, parameters)
    }

    /// The same where it is not remembered; remembers it for the next. `catalogue` is the one that the picture has of the server.
    pub(crate) fn learn(&self, written: &Written<'_>, catalogue: &Catalogue) -> WriteFootprint {
        if written.class.kind().writes_rows() {
            self.remember(written, catalogue);
        }
        let Written { text, class, lexing, schema, parameters, .. } = *written;
        write_footprint(text, class, lexing, schema, catalogue, parameters)
    }

    fn remember(&self, written: &Written<'_>, catalogue: &Catalogue) {
        let mut slot = self.0.lock();
        let Some(made) = &mut *slot else {
            *slot = Some(Box::new(Made::by(written)));
            return;
        };
        if !made.is_for(written) {
            **made = Made::by(written);
        }
        if let Some(tries_left) = made.tries_left.checked_sub(1) {
            made.tries_left = tries_left;
            made.template = written.template(catalogue).or_else(|| made.template.take());
        }
    }
}

/// What is copied is to be of another text.
impl Clone for Template {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Made {
    fn by(written: &Written<'_>) -> Self {
        let Written { by, hostgroup, server, .. } = *written;
        let (picture, server) = (by.version(), Arc::downgrade(server));
        Self { picture, hostgroup, server, tries_left: TRIES_MAX, template: None }
    }

    fn is_for(&self, written: &Written<'_>) -> bool {
        self.picture == written.by.version()
            && self.hostgroup == written.hostgroup
            && std::ptr::eq(self.server.as_ptr(), Arc::as_ptr(written.server))
    }
}

impl Written<'_> {
    fn template(&self, catalogue: &Catalogue) -> Option<WriteTemplate> {
        let Self { text, class, lexing, schema, parameters, .. } = *self;
        (!may_insert_delayed(text, class.kind(), lexing)).then_some(())?;
        WriteTemplate::of(text, class, lexing, schema, catalogue, parameters)
    }
}

#[cfg(test)]
mod tests {
    use nuthatch_cache::{ClockOptions, Clocks};
    use nuthatch_sql::{PrimaryKey, ServerFlavor, SideEffects, Table, TableId, WrittenRows, classify};

    use super::*;
    use crate::exact::{CatalogueStore, Domain, Domains};

    const LEXING: Lexing = Lexing::of(ServerFlavor::MariaDb(101_119));

    fn catalogue(number: u32) -> Catalogue {
        let key = PrimaryKey {
            column: b"id".as_slice().into(),
            min: 0,
            max: 100,
            position: Some(0),
            is_auto_increment: true,
            is_only_unique: true,
        };
        let table = Table {
            id: TableId(number),
            is_view: false,
            time_columns: [].into(),
            compared: nuthatch_sql::ComparedColumns::default(),
            key: Some(key),
            reads: [TableId(number)].into(),
            unsuitable: None,
            side_effects: SideEffects::Tables([].into()),
            is_transactional: true,
            definition: 0,
        };
        let mut catalogue = Catalogue::default();
        catalogue.insert(b"shop", b"t", table.clone());
        catalogue.insert(b"depot", b"t", Table { id: TableId(number + 1), ..table });
        catalogue
    }

    /// Pictures of one server, one after the other, and how often it was looked in the long way.
    struct Looks {
        store: CatalogueStore,
        server: Arc<Server>,
        template: Template,
    }

    impl Looks {
        fn new() -> Self {
            let store = CatalogueStore::new(&Arc::new(Clocks::new(ClockOptions::default())));
            let looks = Self { store, server: Server::at("db", 3306), template: Template::default() };
            looks.see(1);
            looks
        }

        /// The table has this number from now on.
        fn see(&self, number: u32) {
            let domain = Arc::new(Domain::before(catalogue(number)));
            let domains =
                [HostgroupId(0), HostgroupId(1)].map(|hostgroup| (hostgroup, Ok(Arc::clone(&domain))));
            let _replaced = self.store.replace(self.store.generation(), Domains::from_iter(domains));
        }

        /// The table and row that the statement writes, and whether that was remembered.
        fn at(&self, text: &str, schema: &str, hostgroup: u32, server: &Arc<Server>) -> (u32, u64, bool) {
            let by = self.store.current();
            let written = Written {
                text: text.as_bytes(),
                class: Class::of(&classify(text.as_bytes(), LEXING)),
                lexing: LEXING,
                schema: schema.as_bytes(),
                parameters: &[],
                by: &by,
                hostgroup: HostgroupId(hostgroup),
                server,
            };
            let remembered = self.template.footprint(&written);
            let is_remembered = remembered.is_some();
            let catalogue = &by.domain(written.hostgroup).expect("a domain").catalogue;
            let footprint = remembered.unwrap_or_else(|| self.template.learn(&written, catalogue));
            let WriteFootprint::Tables(tables) = footprint else { panic!("{footprint:?}") };
            match (tables[0].table, &tables[0].rows) {
                (TableId(table), WrittenRows::Keys(keys)) => (table, keys[0].0, is_remembered),
                (TableId(table), _) => (table, 0, is_remembered),
            }
        }

        fn of(&self, text: &str) -> (u32, u64, bool) {
            self.at(text, "shop", 0, &self.server)
        }
    }

    #[test]
    fn what_the_third_of_a_shape_writes_is_remembered() {
        let looks = Looks::new();
        for (text, expected) in [
            ("UPDATE t SET a=1 WHERE id=7", (1, 7, false)),
            ("UPDATE t SET a=1 WHERE id=8", (1, 8, false)),
            ("UPDATE t SET a=0 WHERE id=9", (1, 9, true)),
            ("UPDATE t SET a=0 WHERE id=0", (1, 0, false)),
            ("UPDATE t SET a=0 WHERE id=101", (1, 0, false)),
            ("UPDATE t SET a=0 WHERE id=10", (1, 10, true)),
        ] {
            assert_eq!(looks.of(text), expected, "{text}");
        }
    }

    #[test]
    fn nothing_that_is_remembered_is_of_another_picture_schema_hostgroup_or_server() {
        let looks = Looks::new();
        let text = "UPDATE t SET a=1 WHERE id=7";
        let of_text = || looks.of(text);
        assert_eq!([(); 3].map(|()| of_text()), [(1, 7, false), (1, 7, false), (1, 7, true)]);
        looks.see(5);
        assert_eq!([(); 2].map(|()| of_text()), [(5, 7, false), (5, 7, true)]);
        assert_eq!(looks.at(text, "depot", 0, &looks.server), (6, 7, false));
        assert_eq!(looks.at(text, "depot", 0, &looks.server), (6, 7, true));
        assert_eq!([(); 2].map(|()| of_text()), [(5, 7, false), (5, 7, true)]);
        assert_eq!(looks.at(text, "shop", 1, &looks.server), (5, 7, false));
        assert_eq!([(); 2].map(|()| of_text()), [(5, 7, false), (5, 7, true)]);
        assert_eq!(looks.at(text, "shop", 0, &Server::at("db", 3306)), (5, 7, false));
    }

    #[test]
    fn shape_of_which_no_template_is_made_is_tried_so_often_only() {
        let looks = Looks::new();
        let text = |id: u64| format!("UPDATE t SET a=1 WHERE id={id}");
        for _ in 0..=TRIES_MAX {
            assert_eq!(looks.of(&text(0)), (1, 0, false));
        }
        assert_eq!([(); 2].map(|()| looks.of(&text(7))), [(1, 7, false); 2]);
        looks.see(2);
        assert_eq!([(); 2].map(|()| looks.of(&text(7))), [(2, 7, false), (2, 7, true)]);
    }

    #[test]
    fn rows_that_may_come_later_are_told_of_each_time() {
        let looks = Looks::new();
        for _ in 0..3 {
            assert!(!looks.of("INSERT DELAYED INTO t VALUES (1)").2);
        }
    }
}
