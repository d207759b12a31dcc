//! Lists that outlive the process, each in a file of the `--datadir`: beside the configuration and not in it, so that nobody has to save
//! anything, and what an operator saves does not change them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nuthatch_config::replace_private_file;
use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A list that is written when it has changed, where there is a directory for it.
#[derive(Debug)]
pub(in crate::switching) struct Kept<T>(Arc<Inner<T>>);

#[derive(Debug)]
struct Inner<T> {
    list: Mutex<Vec<T>>,
    path: Option<PathBuf>,
    /// What is not known should it be lost.
    of_what: &'static str,
    /// Who has it writes.
    writing: Mutex<()>,
    /// It could not be written, which has been told: the next change, be it none, tries again.
    has_failed: AtomicBool,
}

impl<T: Clone + PartialEq + Serialize + DeserializeOwned + Send + 'static> Kept<T> {
    /// That of a directory, as it was left; a file that is not understood is told of, and made anew.
    pub(in crate::switching) fn open(
        directory: Option<&Path>,
        file_name: &str,
        of_what: &'static str,
    ) -> Self {
        let path = directory.map(|directory| directory.join(file_name));
        let list = path.as_deref().map_or_else(|| Ok(Vec::new()), read).unwrap_or_else(|error| {
            tracing::warn!(file_name, %error, "{of_what} is not known from before: cannot read the file");
            Vec::new()
        });
        let (list, writing, has_failed) = (Mutex::new(list), Mutex::default(), AtomicBool::new(false));
        Self(Arc::new(Inner { list, path, of_what, writing, has_failed }))
    }

    pub(in crate::switching) fn all(&self) -> Vec<T> {
        self.0.list.lock().clone()
    }

    /// What is wanted of it.
    pub(in crate::switching) fn find<U>(&self, wanted: impl Fn(&T) -> Option<U>) -> Vec<U> {
        self.0.list.lock().iter().filter_map(wanted).collect()
    }

    /// Changes it. Where that changes anything, it is in the file when this returns, or that is told.
    pub(in crate::switching) fn change(&self, change: impl FnOnce(&mut Vec<T>)) {
        if self.0.change(change) {
            self.0.write();
        }
    }

    /// The same; it is in the file a little later.
    pub(in crate::switching) fn change_soon(&self, change: impl FnOnce(&mut Vec<T>)) {
        if self.0.change(change) {
            let inner = Arc::clone(&self.0);
            tokio::task::spawn_blocking(move || inner.write());
        }
    }
}

impl<T: Clone + PartialEq + Serialize> Inner<T> {
    /// Whether there is something to write behind it.
    fn change(&self, change: impl FnOnce(&mut Vec<T>)) -> bool {
        let mut list = self.list.lock();
        let before = list.clone();
        change(&mut list);
        *list != before || self.has_failed.load(Ordering::Relaxed)
    }

    /// Writes it as it is by now.
    fn write(&self) {
        let Some(path) = &self.path else { return };
        let _writing = self.writing.lock();
        let list = self.list.lock().clone();
        let saved = save(path, &list);
        let is_told = self.has_failed.swap(saved.is_err(), Ordering::Relaxed);
        if let Err(error) = saved
            && !is_told
        {
            let (file, of_what) = (path.display(), self.of_what);
            tracing::error!(%file, %error, "{of_what} is not kept over a restart: cannot write the file");
        }
    }
}

/// Nothing is in a file that is not there.
fn read<T: DeserializeOwned>(path: &Path) -> io::Result<Vec<T>> {
    match fs::read(path) {
        Ok(text) => Ok(serde_json::from_slice(&text)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn save<T: Serialize>(path: &Path, list: &[T]) -> io::Result<()> {
    replace_private_file(path, &serde_json::to_vec(list)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_changed_is_known_again_and_what_is_broken_is_nothing() {
        let directory = tempfile::tempdir().expect("a directory");
        let open = || Kept::<u32>::open(Some(directory.path()), "list.json", "it");
        open().change(|list| list.extend([1, 2]));
        assert_eq!(open().all(), [1, 2]);
        open().change(Vec::clear);
        assert!(open().all().is_empty());
        fs::write(directory.path().join("list.json"), "[{").expect("it can be written");
        assert!(open().all().is_empty());
        let lost = Kept::<u32>::open(Some(&directory.path().join("missing")), "list.json", "it");
        lost.change(|list| list.push(4));
        fs::create_dir(directory.path().join("missing")).expect("it can be made");
        lost.change(|_| {});
        let found = Kept::<u32>::open(Some(&directory.path().join("missing")), "list.json", "it");
        assert_eq!(found.all(), [4], "what could not be written is tried again");
        let nowhere = Kept::<u32>::open(None, "list.json", "it");
        nowhere.change(|list| list.push(3));
        assert_eq!(nowhere.all(), [3]);
    }
}
