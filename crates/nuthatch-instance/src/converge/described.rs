//! The text: a host's settings, its own templates, its instances.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::InstanceError;
use crate::host::Host;
use crate::life::state::State;
use crate::name::InstanceName;
use crate::options::built_in::USUAL;
use crate::root::{Root, read_if_there};
use crate::template::Template;

/// A host as it is to be, or as it is. What a text does not say is as it is by default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Described {
    /// The text of `defaults.cnf`, empty for none; without this line it stays as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defaults: Option<String>,
    /// What holds for the host; without it that stays as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
    /// The host's own templates, each an option file.
    pub templates: BTreeMap<String, String>,
    /// The instances.
    pub instances: BTreeMap<InstanceName, DescribedInstance>,
}

/// An instance of a [`Described`] host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DescribedInstance {
    /// What it is made from.
    pub template: String,
    /// Which server, as `add --server` takes it.
    pub server: String,
    /// Its port; one is chosen where none is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Whether it is started with the host.
    pub enabled: bool,
    /// Whether it runs.
    pub running: bool,
    /// Its own options: texts, numbers, or true and false for ON and OFF.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, toml::Value>,
}

impl Default for DescribedInstance {
    fn default() -> Self {
        Self {
            template: USUAL.to_owned(),
            server: "mariadb".into(),
            port: None,
            enabled: true,
            running: true,
            set: BTreeMap::new(),
        }
    }
}

impl DescribedInstance {
    /// Its own options, as option files have them.
    pub(crate) fn own(&self) -> Result<BTreeMap<String, String>, InstanceError> {
        let text = |(name, value): (&String, &toml::Value)| {
            let value = match value {
                toml::Value::String(text) => text.clone(),
                toml::Value::Integer(number) => number.to_string(),
                toml::Value::Float(number) => number.to_string(),
                toml::Value::Boolean(yes) => if *yes { "ON" } else { "OFF" }.to_owned(),
                other => {
                    return Err(InstanceError::Refused(format!(
                        "set {name} to {other}: a text, a number, true or false is wanted"
                    )));
                }
            };
            Ok((name.replace('-', "_"), value))
        };
        self.set.iter().map(text).collect()
    }
}

impl Described {
    /// What the text says; `path` is where it is.
    ///
    /// # Errors
    /// [`InstanceError::BadFile`], with the line.
    pub fn parse(text: &str, path: &Path) -> Result<Self, InstanceError> {
        let bad = |what: String| InstanceError::BadFile { path: path.into(), what };
        let described: Self =
            toml::from_str(text).map_err(|error| bad(error.to_string().trim().to_owned()))?;
        if let Some(host) = &described.host {
            host.check().map_err(bad)?;
        }
        Ok(described)
    }

    /// The host as it is.
    ///
    /// # Errors
    /// [`InstanceError::BadFile`], [`ServerError::File`](nuthatch_server::ServerError::File).
    pub fn of(root: &Root) -> Result<Self, InstanceError> {
        let mut described = Self {
            defaults: read_if_there(&root.defaults_file())?,
            host: Some(root.host()?),
            ..Self::default()
        };
        for template in Template::all(root)?.into_iter().filter(|template| template.file.is_some()) {
            described.templates.insert(template.name, template.text);
        }
        for name in root.names()? {
            let place = root.find(&name)?;
            let record = place.record()?;
            let value = |(name, value): (String, String)| (name, toml::Value::String(value));
            let instance = DescribedInstance {
                template: record.template.clone(),
                server: record.server.name(),
                port: Some(record.port),
                enabled: record.enabled,
                running: State::load(&place)?.live_server().is_some(),
                set: record.own.into_iter().map(value).collect(),
            };
            described.instances.insert(name, instance);
        }
        Ok(described)
    }

    /// The text.
    ///
    /// # Errors
    /// [`InstanceError::Refused`]: never, but for a fault of ours.
    pub fn to_text(&self) -> Result<String, InstanceError> {
        toml::to_string_pretty(self)
            .map_err(|error| InstanceError::Refused(format!("write down the host: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_read_as_it_was_written() {
        let text = "[host]\nmemory_pct = 50\n\n[templates]\ncrm = \"\"\"\n[mysqld]\nmax_connections = 7\n\"\"\"\n\n\
                    [instances.shop]\ntemplate = \"crm\"\nset = { max-connections = 5, sql_mode = \"\", slow_query_log = false }\n";
        let described = Described::parse(text, Path::new("/x")).unwrap();
        let shop = &described.instances[&"shop".parse::<InstanceName>().unwrap()];
        let own: Vec<(String, String)> = shop.own().unwrap().into_iter().collect();
        let wanted = [("max_connections", "5"), ("slow_query_log", "OFF"), ("sql_mode", "")];
        assert_eq!(own, wanted.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(Described::parse(&described.to_text().unwrap(), Path::new("/x")).unwrap(), described);
        let said =
            Described::parse("[instances.shop]\ntemplte = \"x\"", Path::new("/x")).unwrap_err().to_string();
        assert!(said.contains("line 2") && said.contains("templte"), "{said}");
        assert!(Described::parse("[host]\nmemory_pct = 0", Path::new("/x")).is_err());
        assert!(Described::parse("[instances.Shop]", Path::new("/x")).is_err());
    }
}
