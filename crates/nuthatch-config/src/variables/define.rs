//! The macro that turns a list of variables into a struct and its table.
//!
//! A line reads `field [as "name"]: kind[(bounds)] = default, effect[, own], "one line for operators";`

/// Defines a struct of variables, its defaults and its table. `$module` is the prefix of the names.
macro_rules! variables {
    (
        $(#[$meta:meta])*
        pub struct $Struct:ident = $module:literal;
        $(
            $field:ident $(as $name:literal)? : $kind:ident $(($($bounds:tt)*))? = $default:expr,
            $effect:ident $(, $own:ident)?, $doc:literal;
        )*
    ) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub struct $Struct {
            $(#[doc = $doc] pub $field: $crate::variables::define::field_type!($kind),)*
        }

        impl Default for $Struct {
            fn default() -> Self {
                Self { $($field: $crate::variables::define::default_value!($kind, $default),)* }
            }
        }

        impl $Struct {
            /// What the names begin with, before a hyphen.
            pub const MODULE: &'static str = $module;

            /// Every variable, in the order of the documentation.
            pub const TABLE: &'static [Variable<Self>] = &[$(Variable {
                name: $crate::variables::define::variable_name!($field $(, $name)?),
                kind: $crate::variables::define::kind_value!($kind $(, $($bounds)*)?),
                effect: Effect::$effect,
                doc: $doc,
                own: $crate::variables::define::is_own!($($own)?),
                assign: |all, text| {
                    const KIND: Kind = $crate::variables::define::kind_value!($kind $(, $($bounds)*)?);
                    all.$field = Value::parse(text, KIND)?;
                    Ok(())
                },
                text: |all| all.$field.text(),
            },)*];

            /// Sets the variable `name` (without the prefix, in either case) from its text.
            ///
            /// # Errors
            /// Unknown name, read-only variable or a value it does not take; then nothing changed.
            pub fn set(&mut self, name: &str, text: &str) -> Result<(), VariableFault> {
                let variable = Self::variable(name).ok_or(VariableFault::Unknown)?;
                if variable.effect == Effect::ReadOnly {
                    return Err(VariableFault::ReadOnly);
                }
                (variable.assign)(self, text)
            }

            /// The text of the variable `name` (without the prefix, in either case).
            pub fn text(&self, name: &str) -> Option<String> {
                Self::variable(name).map(|variable| (variable.text)(self))
            }

            /// The definition of `name` (without the prefix, in either case).
            pub fn variable(name: &str) -> Option<&'static Variable<Self>> {
                Self::TABLE.iter().find(|variable| variable.name.eq_ignore_ascii_case(name))
            }

            /// Full name and text of every variable.
            pub fn rows(&self) -> impl Iterator<Item = (String, String)> {
                Self::TABLE.iter().map(|variable| {
                    (format!("{}-{}", Self::MODULE, variable.name), (variable.text)(self))
                })
            }
        }
    };
}

macro_rules! field_type {
    (flag) => {
        bool
    };
    (count) => {
        u64
    };
    (text) => {
        String
    };
    (choice) => {
        String
    };
    (secret) => {
        Secret
    };
    (cache_type) => {
        QueryCacheType
    };
    (cache_size) => {
        QueryCacheSize
    };
    (loss_max) => {
        LossMax
    };
}

macro_rules! default_value {
    (flag, $value:expr) => {
        $value
    };
    (count, $value:expr) => {
        $value
    };
    (text, $value:expr) => {
        String::from($value)
    };
    (choice, $value:expr) => {
        String::from($value)
    };
    (secret, $value:expr) => {
        Secret::new($value)
    };
    (cache_type, $value:expr) => {
        $value
    };
    (loss_max, $value:expr) => {
        $value
    };
    (cache_size, $mib:expr) => {
        QueryCacheSize::of_mib($mib)
    };
}

macro_rules! kind_value {
    (flag) => { Kind::Flag };
    (count, $min:literal ..= $max:literal) => { Kind::Count { min: $min, max: $max } };
    (text) => { Kind::Text };
    (secret) => { Kind::Secret };
    (choice, $($word:literal),+) => { Kind::Choice(&[$($word),+]) };
    (cache_type) => { Kind::CacheType };
    (loss_max) => { Kind::LossMax };
    (cache_size, ..= $mib_max:literal) => { Kind::CacheSize { mib_max: $mib_max } };
}

macro_rules! variable_name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident, $name:literal) => {
        $name
    };
}

macro_rules! is_own {
    () => {
        false
    };
    (own) => {
        true
    };
}

pub(super) use {default_value, field_type, is_own, kind_value, variable_name, variables};
