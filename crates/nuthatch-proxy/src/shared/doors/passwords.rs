//! What logins revealed of passwords of which only a hash is configured, so that servers can be logged in to.
//!
//! A native login reveals `SHA1(password)`, a fast `caching_sha2_password` login `SHA256(password)`, a full one the password
//! itself. Nothing of it is stored or shown. What is remembered holds for the password column that it was checked against.

use std::collections::HashMap;
use std::sync::Arc;

use nuthatch_config::{Password, User};
use nuthatch_net::{BackendPassword, Proof};
use nuthatch_wire::SHA256_LEN;
use parking_lot::Mutex;

/// See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct Passwords(Mutex<HashMap<Arc<str>, Learned>>);

#[derive(Debug)]
struct Learned {
    /// What the column held.
    column: Password,
    proof: Proof,
}

impl Passwords {
    /// Adds to what is known of the user.
    pub(crate) fn learn(&self, user: &User, proof: Proof) {
        if matches!(user.password, Password::Clear(_) | Password::Empty) {
            return;
        }
        let mut known = self.0.lock();
        match known.get_mut(user.name.as_str()) {
            Some(learned) if learned.column == user.password => {
                let before = std::mem::take(&mut learned.proof);
                learned.proof = Proof {
                    native: proof.native.or(before.native),
                    sha2: proof.sha2.or(before.sha2),
                    clear: proof.clear.or(before.clear),
                };
            }
            _ => {
                let learned = Learned { column: user.password.clone(), proof };
                known.insert(Arc::from(user.name.as_str()), learned);
            }
        }
    }

    /// `SHA256(SHA256(password))`, if known.
    pub(crate) fn double(&self, user: &User) -> Option<[u8; SHA256_LEN]> {
        let known = self.0.lock();
        let learned = known.get(user.name.as_str()).filter(|learned| learned.column == user.password)?;
        learned.proof.sha2.map(|sha2| sha2.double())
    }

    /// How to log in to servers by the backend row `user`; `None` when nothing is known that could do.
    pub(crate) fn towards_servers(&self, user: &User) -> Option<BackendPassword> {
        match &user.password {
            Password::Empty => return Some(BackendPassword::Empty),
            Password::Clear(secret) => {
                return Some(BackendPassword::Clear(secret.expose().as_bytes().to_vec()));
            }
            Password::NativeHash(_) | Password::Sha2Hash(_) => {}
            Password::Other => return None,
        }
        let known = self.0.lock();
        let learned = known.get(user.name.as_str())?;
        let proof = &learned.proof;
        if learned.column != user.password {
            // The row for servers is another than the one for clients; a native half proves itself.
            let Password::NativeHash(double) = &user.password else { return None };
            let native = proof.native.filter(|native| native.is_of(double))?;
            return Some(BackendPassword::Halves { native: Some(native), sha2: None });
        }
        Some(match &proof.clear {
            Some(password) => BackendPassword::Clear(password.clone()),
            None => BackendPassword::Halves { native: proof.native, sha2: proof.sha2 },
        })
    }
}

#[cfg(test)]
mod tests {
    use nuthatch_wire::{Sha2Stage1, Stage1, double_sha1};

    use super::*;

    fn user(column: &[u8]) -> User {
        User::new("app", Password::parse(column))
    }

    fn hash_of(password: &[u8]) -> User {
        User::new("app", Password::NativeHash(double_sha1(password)))
    }

    #[test]
    fn halves_add_up_and_the_password_itself_wins() {
        let sha2_column = [b"$A$005$".as_slice(), &[b'x'; 63]].concat();
        let user = user(&sha2_column);
        let passwords = Passwords::default();
        assert_eq!(passwords.towards_servers(&user), None);
        let sha2 = Sha2Stage1::of(b"secret");
        passwords.learn(&user, Proof { sha2: Some(sha2), ..Proof::default() });
        assert_eq!(
            passwords.towards_servers(&user),
            Some(BackendPassword::Halves { native: None, sha2: Some(sha2) })
        );
        assert_eq!(passwords.double(&user), Some(sha2.double()));
        passwords.learn(&user, Proof { clear: Some(b"secret".to_vec()), ..Proof::default() });
        assert_eq!(passwords.towards_servers(&user), Some(BackendPassword::Clear(b"secret".to_vec())));
        assert_eq!(passwords.double(&user), Some(sha2.double()));
    }

    #[test]
    fn what_was_learned_is_gone_with_the_column_it_was_learned_for() {
        let passwords = Passwords::default();
        let native = Stage1::of(b"old");
        passwords.learn(&hash_of(b"old"), Proof { native: Some(native), ..Proof::default() });
        let halves = BackendPassword::Halves { native: Some(native), sha2: None };
        assert_eq!(passwords.towards_servers(&hash_of(b"old")), Some(halves));
        assert_eq!(passwords.towards_servers(&hash_of(b"new")), None);
    }
}
