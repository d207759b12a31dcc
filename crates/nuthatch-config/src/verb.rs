//! The `LOAD` and `SAVE` commands of the admin interface, in all of ProxySQL's spellings.
//!
//! Case and the amount of white space do not matter; a `;` at the end is allowed.

/// A part of the configuration that is loaded and saved as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Module {
    /// `mysql_users`.
    MysqlUsers,
    /// `mysql_servers` and what is known of hostgroups.
    MysqlServers,
    /// `mysql_query_rules` and fast routing.
    MysqlQueryRules,
    /// The `mysql-*` rows of `global_variables`.
    MysqlVariables,
    /// The `admin-*` rows of `global_variables`.
    AdminVariables,
    /// The firewall's tables; stored only.
    MysqlFirewall,
    /// `scheduler`; stored only.
    Scheduler,
    /// `restapi_routes`; stored only.
    Restapi,
    /// `proxysql_servers`; stored only.
    ProxysqlServers,
    /// `mysql_ldap_mapping`; stored only.
    LdapMapping,
}

impl Module {
    /// Every module, in the order in which a start loads them.
    pub const ALL: [Self; 10] = [
        Self::MysqlVariables,
        Self::AdminVariables,
        Self::MysqlServers,
        Self::MysqlUsers,
        Self::MysqlQueryRules,
        Self::MysqlFirewall,
        Self::Scheduler,
        Self::Restapi,
        Self::ProxysqlServers,
        Self::LdapMapping,
    ];

    /// Its name in a command.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MysqlUsers => "MYSQL USERS",
            Self::MysqlServers => "MYSQL SERVERS",
            Self::MysqlQueryRules => "MYSQL QUERY RULES",
            Self::MysqlVariables => "MYSQL VARIABLES",
            Self::AdminVariables => "ADMIN VARIABLES",
            Self::MysqlFirewall => "MYSQL FIREWALL",
            Self::Scheduler => "SCHEDULER",
            Self::Restapi => "RESTAPI",
            Self::ProxysqlServers => "PROXYSQL SERVERS",
            Self::LdapMapping => "LDAP MAPPING",
        }
    }
}

/// Between which layers a command copies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// Puts in force what is in memory.
    MemoryToRuntime,
    /// Shows in memory what is in force.
    RuntimeToMemory,
    /// Takes back what was saved.
    DiskToMemory,
    /// Keeps what is in memory over a restart.
    MemoryToDisk,
    /// Takes what the configuration file says.
    ConfigToMemory,
}

/// One command.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Verb {
    /// Copies a module.
    Copy(Module, Direction),
    /// `LOAD MYSQL USER <name> TO RUNTIME`: puts the rows of one user in force.
    LoadUser(String),
}

impl Verb {
    /// Understands a command; `None` if it is none of these.
    pub fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.trim().trim_end_matches(';').split_whitespace().collect();
        let upper: Vec<String> = words.iter().map(|word| word.to_ascii_uppercase()).collect();
        let upper: Vec<&str> = upper.iter().map(String::as_str).collect();
        if let (["LOAD", "MYSQL", "USER", _, "TO", "RUNTIME" | "RUN"], Some(name)) = (&*upper, words.get(3)) {
            return Some(Self::LoadUser(unquote(name).to_owned()));
        }
        let [action, module @ .., preposition, layer] = &*upper else { return None };
        let direction = direction(action, preposition, layer)?;
        let module = module.join(" ");
        let module = Module::ALL.into_iter().find(|known| known.as_str() == module)?;
        Some(Self::Copy(module, direction))
    }
}

fn direction(action: &str, preposition: &str, layer: &str) -> Option<Direction> {
    match (action, preposition, layer) {
        ("LOAD", "TO", "RUNTIME" | "RUN") | ("LOAD", "FROM", "MEMORY" | "MEM") => {
            Some(Direction::MemoryToRuntime)
        }
        ("LOAD", "TO", "MEMORY" | "MEM") | ("LOAD", "FROM", "DISK") => Some(Direction::DiskToMemory),
        ("LOAD", "FROM", "CONFIG") => Some(Direction::ConfigToMemory),
        ("SAVE", "TO", "MEMORY" | "MEM") | ("SAVE", "FROM", "RUNTIME" | "RUN") => {
            Some(Direction::RuntimeToMemory)
        }
        ("SAVE", "TO", "DISK") | ("SAVE", "FROM", "MEMORY" | "MEM") => Some(Direction::MemoryToDisk),
        _ => None,
    }
}

fn unquote(name: &str) -> &str {
    ['\'', '"', '`']
        .into_iter()
        .find_map(|quote| name.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::{Direction::*, Module::*, *};

    #[test]
    fn every_spelling_is_understood() {
        for (text, expected) in [
            ("LOAD MYSQL USERS TO RUNTIME", Some((MysqlUsers, MemoryToRuntime))),
            ("load  mysql\n users to run;", Some((MysqlUsers, MemoryToRuntime))),
            ("LOAD MYSQL USERS FROM MEMORY", Some((MysqlUsers, MemoryToRuntime))),
            ("LOAD MYSQL USERS FROM MEM", Some((MysqlUsers, MemoryToRuntime))),
            ("LOAD MYSQL SERVERS TO MEMORY", Some((MysqlServers, DiskToMemory))),
            ("LOAD MYSQL SERVERS TO MEM", Some((MysqlServers, DiskToMemory))),
            ("LOAD MYSQL SERVERS FROM DISK", Some((MysqlServers, DiskToMemory))),
            ("LOAD MYSQL QUERY RULES FROM CONFIG", Some((MysqlQueryRules, ConfigToMemory))),
            ("SAVE MYSQL QUERY RULES TO MEMORY", Some((MysqlQueryRules, RuntimeToMemory))),
            ("SAVE MYSQL QUERY RULES FROM RUNTIME", Some((MysqlQueryRules, RuntimeToMemory))),
            ("SAVE MYSQL QUERY RULES FROM RUN", Some((MysqlQueryRules, RuntimeToMemory))),
            ("SAVE MYSQL VARIABLES TO DISK", Some((MysqlVariables, MemoryToDisk))),
            ("SAVE ADMIN VARIABLES FROM MEMORY ; ", Some((AdminVariables, MemoryToDisk))),
            ("SAVE SCHEDULER FROM MEM", Some((Scheduler, MemoryToDisk))),
            ("SAVE MYSQL USERS TO RUNTIME", None),
            ("SAVE MYSQL USERS FROM DISK", None),
            ("LOAD MYSQL USERS TO DISK", None),
            ("LOAD MYSQL USERS", None),
            ("LOAD MYSQL TO RUNTIME", None),
            ("LOAD COFFEE TO RUNTIME", None),
            ("LOAD DATA INFILE 'x' TO RUNTIME", None),
            ("SELECT 1", None),
            ("", None),
        ] {
            let expected = expected.map(|(module, direction)| Verb::Copy(module, direction));
            assert_eq!(Verb::parse(text), expected, "{text}");
        }
    }

    #[test]
    fn one_user_keeps_the_case_of_its_name() {
        for text in ["LOAD MYSQL USER App TO RUNTIME", "load mysql user 'App' to run;"] {
            assert_eq!(Verb::parse(text), Some(Verb::LoadUser("App".into())), "{text}");
        }
    }
}
