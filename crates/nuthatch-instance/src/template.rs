//! The templates of a host: those that are built in, and those that operators have put into the root's `templates`.

use std::fs;

use crate::error::InstanceError;
use crate::options::built_in::TEMPLATES;
use crate::options::option_file::OptionFile;
use crate::root::{Root, read_if_there};

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// Its name.
    pub name: String,
    /// Where it is; `None` for one that is built in.
    pub file: Option<std::path::PathBuf>,
    /// The option file.
    pub text: String,
}

impl Template {
    /// All of them, by name.
    ///
    /// # Errors
    /// [`ServerError::File`](nuthatch_server::ServerError::File).
    pub fn all(root: &Root) -> Result<Vec<Self>, InstanceError> {
        let mut names: Vec<String> = TEMPLATES.iter().map(|(name, _)| (*name).to_owned()).collect();
        let files = fs::read_dir(root.templates_dir()).into_iter().flatten().flatten();
        names.extend(
            files.filter_map(|file| file.file_name().to_str()?.strip_suffix(".cnf").map(str::to_owned)),
        );
        names.sort();
        names.dedup();
        names.iter().map(|name| Self::find(root, name)).collect()
    }

    /// The one of that name.
    ///
    /// # Errors
    /// [`InstanceError::Refused`] with those that there are.
    pub fn find(root: &Root, name: &str) -> Result<Self, InstanceError> {
        let file = root.templates_dir().join(format!("{name}.cnf"));
        let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
        let own = if is_plain { read_if_there(&file)? } else { None };
        if let Some(text) = own {
            return Ok(Self { name: name.to_owned(), file: Some(file), text });
        }
        let built_in = TEMPLATES.iter().find(|(built_in, _)| *built_in == name);
        let (_, text) = built_in.ok_or_else(|| {
            let names: Vec<&str> = TEMPLATES.iter().map(|(name, _)| *name).collect();
            InstanceError::Refused(format!(
                "find the template {name:?}: {} are built in, and {} holds those of this host",
                names.join(", "),
                root.templates_dir().display()
            ))
        })?;
        Ok(Self { name: name.to_owned(), file: None, text: (*text).to_owned() })
    }

    pub(crate) fn options(&self) -> Result<OptionFile, InstanceError> {
        let path = self.file.clone().unwrap_or_else(|| format!("the template {}", self.name).into());
        OptionFile::parse(&self.text).map_err(|what| InstanceError::BadFile { path, what })
    }
}
