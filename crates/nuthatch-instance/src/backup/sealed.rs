//! What a backup's bytes go through on their way to a file or a pipe, and back: compressed by zstd(1), encrypted by age(1) where keys are
//! given. Either program opens what is written here without this one.
//!
//! A stream that was cut is an error when it is read: both formats tell their end.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;

use nuthatch_server::ServerError;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};

use crate::error::InstanceError;
use crate::tool::tied;

/// As every file of age(1) begins.
const AGE_MAGIC: &[u8] = b"age-encryption.org/";

/// What is said where it is missing.
const AGE_MISSING: &str =
    "encrypt, or read what is encrypted: there is no program age (install Debian's age)";

/// How small, and for whom.
#[derive(Clone, Debug)]
pub struct Seal {
    /// zstd's level, 1 to 19; 3 is its own default.
    pub level: i32,
    /// Files with public keys (`age1…`, or SSH's), one a line: who has one of the secret keys can read it. None: not encrypted.
    pub recipient_files: Vec<PathBuf>,
}

impl Default for Seal {
    fn default() -> Self {
        Self { level: 3, recipient_files: Vec::new() }
    }
}

impl Seal {
    /// Refuses what could not be used, before anything is begun.
    pub(crate) fn check(&self) -> Result<(), InstanceError> {
        for file in &self.recipient_files {
            let text =
                std::fs::read_to_string(file).map_err(ServerError::file("read the public keys in", file))?;
            if !text.lines().any(|line| !line.trim().is_empty() && !line.starts_with('#')) {
                return Err(InstanceError::Refused(format!(
                    "encrypt for {}: no key is in it",
                    file.display()
                )));
            }
            if text.contains("AGE-SECRET-KEY-") {
                return Err(InstanceError::Refused(format!(
                    "encrypt for {}: that is a secret key; name the file with the public one (age-keygen -y FILE prints it)",
                    file.display()
                )));
            }
        }
        if self.is_encrypted() && which("age").is_none() {
            return Err(InstanceError::Refused(AGE_MISSING.into()));
        }
        Ok(())
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        !self.recipient_files.is_empty()
    }

    /// Behind the name of a file.
    pub(crate) fn suffix(&self) -> &'static str {
        if self.is_encrypted() { ".zst.age" } else { ".zst" }
    }
}

fn which(program: &str) -> Option<PathBuf> {
    ["/usr/bin", "/usr/local/bin", "/bin"]
        .map(|dir| Path::new(dir).join(program))
        .into_iter()
        .find(|path| path.exists())
}

fn age() -> Result<PathBuf, InstanceError> {
    which("age").ok_or_else(|| InstanceError::Refused(AGE_MISSING.into()))
}

/// Counts what goes to the end of the way.
struct Sink {
    to: Box<dyn Write + Send>,
    digest: Sha256,
    bytes: u64,
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.digest.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

enum Outlet {
    Plain(Sink),
    Encrypted { age: Child, to_age: ChildStdin, from_age: JoinHandle<io::Result<Sink>> },
}

impl Write for Outlet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(sink) => sink.write(bytes),
            Self::Encrypted { to_age, .. } => to_age.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(sink) => sink.flush(),
            Self::Encrypted { to_age, .. } => to_age.flush(),
        }
    }
}

/// The way out.
pub(crate) struct SealedWriter(zstd::Encoder<'static, Outlet>);

/// What has come out at its end.
pub(crate) struct Written {
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
}

impl SealedWriter {
    pub(crate) fn new(to: Box<dyn Write + Send>, seal: &Seal) -> Result<Self, InstanceError> {
        let sink = Sink { to, digest: Sha256::new(), bytes: 0 };
        let outlet = if seal.is_encrypted() { encrypted(sink, seal)? } else { Outlet::Plain(sink) };
        let compress = || {
            let mut encoder = zstd::Encoder::new(outlet, seal.level)?;
            encoder.include_checksum(true)?;
            Ok(encoder)
        };
        Ok(Self(compress().map_err(ServerError::file("compress", "a backup"))?))
    }

    /// All is written, and out.
    pub(crate) fn finish(self) -> io::Result<Written> {
        let mut sink = match self.0.finish()? {
            Outlet::Plain(sink) => sink,
            Outlet::Encrypted { mut age, to_age, from_age } => {
                drop(to_age);
                let sink =
                    from_age.join().map_err(|_panic| io::Error::other("a thread of ours panicked"))??;
                let status = age.wait()?;
                if !status.success() {
                    return Err(io::Error::other(format!("age ended with {status}")));
                }
                sink
            }
        };
        sink.flush()?;
        Ok(Written { bytes: sink.bytes, sha256: hex(&sink.digest.finalize()) })
    }
}

impl Write for SealedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn encrypted(mut sink: Sink, seal: &Seal) -> Result<Outlet, InstanceError> {
    let program = age()?;
    let mut command = tied(&program, None);
    for file in &seal.recipient_files {
        command.arg("-R").arg(file);
    }
    let mut age = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(ServerError::file("run", &program))?;
    let (Some(to_age), Some(mut said)) = (age.stdin.take(), age.stdout.take()) else {
        return Err(InstanceError::Refused("talk to age: it has no pipes".into()));
    };
    let from_age = std::thread::spawn(move || io::copy(&mut said, &mut sink).map(|_| sink));
    Ok(Outlet::Encrypted { age, to_age, from_age })
}

/// The way back.
pub(crate) struct SealedReader {
    stream: zstd::Decoder<'static, BufReader<Inlet>>,
    digest: Arc<Mutex<Sha256>>,
}

enum Inlet {
    Plain(Box<dyn BufRead + Send>),
    Encrypted { age: Child, from_age: ChildStdout, to_age: Option<JoinHandle<io::Result<u64>>> },
}

impl Read for Inlet {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(from) => from.read(bytes),
            Self::Encrypted { age, from_age, to_age } => {
                let read = from_age.read(bytes)?;
                if read > 0 || to_age.is_none() {
                    return Ok(read);
                }
                let fed = to_age.take().map(JoinHandle::join);
                let status = age.wait()?;
                match fed {
                    _ if !status.success() => Err(io::Error::other(
                        "age could not decrypt it (it has said why): another key, or a file that was cut or changed",
                    )),
                    Some(Ok(Err(error))) => Err(error),
                    _ => Ok(0),
                }
            }
        }
    }
}

/// Takes note of what is read.
struct Digesting<R> {
    from: R,
    digest: Arc<Mutex<Sha256>>,
}

impl<R: Read> Read for Digesting<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(bytes)?;
        self.digest.lock().update(&bytes[..read]);
        Ok(read)
    }
}

impl SealedReader {
    /// Of what a [`SealedWriter`] wrote. `identity` is the file with the secret key.
    ///
    /// # Errors
    /// [`InstanceError::Refused`] where it is encrypted and no key is given.
    pub(crate) fn new(from: Box<dyn Read + Send>, identity: Option<&Path>) -> Result<Self, InstanceError> {
        let digest = Arc::new(Mutex::new(Sha256::new()));
        let mut from = BufReader::with_capacity(256 << 10, Digesting { from, digest: digest.clone() });
        let head = from.fill_buf().map_err(ServerError::file("read", "a backup"))?;
        let inlet = if head.starts_with(AGE_MAGIC) {
            let identity = identity.ok_or_else(|| {
                InstanceError::Refused(
                    "read it: it is encrypted; name the file with the secret key (--identity FILE)".into(),
                )
            })?;
            decrypted(from, identity)?
        } else {
            Inlet::Plain(Box::new(from))
        };
        let stream = zstd::Decoder::new(inlet).map_err(ServerError::file("read", "a backup"))?;
        Ok(Self { stream, digest })
    }

    /// Reads what is left, which is nothing, and gives the SHA-256 of all that was read.
    pub(crate) fn finish(mut self) -> io::Result<String> {
        io::copy(&mut self.stream, &mut io::sink())?;
        let digest = self.digest.lock().clone();
        Ok(hex(&digest.finalize()))
    }
}

impl Read for SealedReader {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.read(bytes)
    }
}

fn decrypted(mut from: impl Read + Send + 'static, identity: &Path) -> Result<Inlet, InstanceError> {
    std::fs::metadata(identity).map_err(ServerError::file("read the secret key in", identity))?;
    let program = age()?;
    let mut age = tied(&program, None)
        .arg("-d")
        .arg("-i")
        .arg(identity)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(ServerError::file("run", &program))?;
    let (Some(mut feed), Some(from_age)) = (age.stdin.take(), age.stdout.take()) else {
        return Err(InstanceError::Refused("talk to age: it has no pipes".into()));
    };
    let to_age = Some(std::thread::spawn(move || io::copy(&mut from, &mut feed)));
    Ok(Inlet::Encrypted { age, from_age, to_age })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;

    fn written(text: &[u8]) -> (tempfile::TempDir, PathBuf, Written) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("data.zst");
        let mut writer = SealedWriter::new(Box::new(File::create(&path).unwrap()), &Seal::default()).unwrap();
        writer.write_all(text).unwrap();
        let written = writer.finish().unwrap();
        (dir, path, written)
    }

    #[test]
    fn what_went_in_comes_out_and_is_known_again() {
        let text: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        let (_dir, path, written) = written(&text);
        assert_eq!(fs::metadata(&path).unwrap().len(), written.bytes);
        let mut reader = SealedReader::new(Box::new(File::open(&path).unwrap()), None).unwrap();
        let mut again = Vec::new();
        reader.read_to_end(&mut again).unwrap();
        assert!(again == text);
        assert_eq!(reader.finish().unwrap(), written.sha256);
    }

    #[test]
    fn what_was_cut_or_changed_is_an_error() {
        let text: Vec<u8> =
            (0..100_000_u32).flat_map(|n| (n.wrapping_mul(2_654_435_761)).to_le_bytes()).collect();
        let (_dir, path, _) = written(&text);
        let whole = fs::read(&path).unwrap();
        let read = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            let mut reader = SealedReader::new(Box::new(File::open(&path).unwrap()), None)?;
            io::copy(&mut reader, &mut io::sink()).map_err(|error| InstanceError::Refused(error.to_string()))
        };
        read(&whole).unwrap();
        for cut in [1, 5, whole.len() / 2, whole.len() - 1] {
            assert!(read(&whole[..cut]).is_err(), "cut at {cut}");
        }
        let mut changed = whole.clone();
        changed[whole.len() / 2] ^= 1;
        assert!(read(&changed).is_err());
    }
}
