//! Secrets on disk: never in clear, never silently wrong.

use crate::variables::AdminVariables;

use super::*;

/// What must be found in no file. The first is a user's, the others variables'.
const SECRETS: [&str; 3] = ["hunter2", "operator-pw", "monitor-pw"];

fn secret_seed() -> Seed {
    let variables = [
        ("admin-admin_credentials".to_owned(), "admin:operator-pw".into()),
        ("mysql-monitor_password".to_owned(), "monitor-pw".into()),
    ];
    Seed { variables: variables.into(), ..seed() }
}

fn reopen(directory: &Path) -> Layers {
    Layers::open(Some(&at(directory)), Seed::default(), &Seed::default()).expect("it opens").0
}

fn refusal(datadir: &Datadir) -> String {
    Layers::open(Some(datadir), Seed::default(), &Seed::default()).err().expect("it is refused").to_string()
}

/// A directory where everything of the seed was saved.
fn saved() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let (mut layers, _) = Layers::open(Some(&at(directory.path())), secret_seed(), &Seed::default()).unwrap();
    save_all(&mut layers);
    directory
}

fn save_all(layers: &mut Layers) {
    for module in ["MYSQL USERS", "MYSQL VARIABLES", "ADMIN VARIABLES"] {
        command(layers, &format!("SAVE {module} TO DISK"));
    }
}

#[track_caller]
fn assert_nothing_in_clear(directory: &Path) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        for secret in SECRETS {
            let is_in = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!is_in, "{secret} in {}", path.display());
        }
    }
}

#[track_caller]
fn assert_in_force(layers: &Layers) {
    let snapshot = layers.snapshot();
    assert_eq!(snapshot.users.frontend(b"app").unwrap().password, Password::parse(b"hunter2"));
    assert_eq!(snapshot.admin.admin_credentials.expose(), "admin:operator-pw");
    assert_eq!(snapshot.mysql.monitor_password.expose(), "monitor-pw");
}

fn key_of(directory: &Path) -> std::path::PathBuf {
    directory.join("nuthatch-secrets.key")
}

/// The same directory as the program made it before it sealed anything.
fn made_by_version_1(directory: &Path) {
    drop(reopen(directory));
    fs::remove_file(key_of(directory)).unwrap();
    let file = Connection::open(directory.join("nuthatch.db")).unwrap();
    file.execute_batch(
        "INSERT INTO mysql_users (username, password) VALUES ('app', 'hunter2');
         INSERT INTO mysql_users (username, password)
             WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 500) SELECT 'gone' || n, 'hunter2' FROM n;
         DELETE FROM mysql_users WHERE username <> 'app';
         INSERT INTO global_variables VALUES ('admin-admin_credentials', 'admin:operator-pw'),
                                             ('mysql-monitor_password', 'monitor-pw');
         UPDATE nuthatch_schema SET version = 1",
    )
    .unwrap();
}

#[test]
fn saved_secrets_are_in_no_file_and_come_back() {
    let directory = saved();
    assert_nothing_in_clear(directory.path());
    let mut layers = reopen(directory.path());
    assert_in_force(&layers);
    assert_eq!(one(&layers, "SELECT password FROM mysql_users"), "hunter2", "memory shows what was typed");
    assert!(one(&layers, "SELECT password FROM disk.mysql_users").starts_with("$nuthatch$1$"));
    sql(&layers, "DELETE FROM mysql_users");
    command(&mut layers, "LOAD MYSQL USERS FROM DISK");
    assert_eq!(one(&layers, "SELECT password FROM mysql_users"), "hunter2");
    save_all(&mut layers);
    sql(&layers, "DELETE FROM mysql_users");
    command(&mut layers, "SAVE MYSQL USERS TO DISK");
    assert_nothing_in_clear(directory.path());
}

#[test]
fn hashes_blobs_and_nothing_are_saved_as_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let mut layers = reopen(directory.path());
    let sha2 = "X'24412430303524".to_owned() + &"61".repeat(63) + "'";
    sql(
        &layers,
        &format!(
            "INSERT INTO mysql_users (username, password) VALUES ('a', NULL), ('b', ''), ('c', X'FF00'), ('d', {sha2}),
             ('e', '*2A0328435E0A1F3B5C7D9EFF0001020304050607')"
        ),
    );
    let rows = "SELECT group_concat(username || typeof(password) || hex(password)) FROM ";
    let typed = one(&layers, &format!("{rows} mysql_users"));
    command(&mut layers, "SAVE MYSQL USERS TO DISK");
    let sealed = "SELECT group_concat(username) FROM disk.mysql_users WHERE password LIKE '$nuthatch%'";
    assert_eq!(one(&layers, sealed), "c");
    let layers = reopen(directory.path());
    assert_eq!(one(&layers, &format!("{rows} mysql_users")), typed);
}

#[test]
fn runtime_shows_no_password_and_its_sealed_form_is_one() {
    let directory = saved();
    let mut layers = reopen(directory.path());
    assert!(one(&layers, "SELECT password FROM runtime_mysql_users").starts_with("$nuthatch$1$"));
    command(&mut layers, "SAVE MYSQL USERS FROM RUNTIME");
    assert!(one(&layers, "SELECT password FROM mysql_users").starts_with("$nuthatch$1$"));
    let epoch = layers.snapshot().epoch;
    for text in ["LOAD MYSQL USERS TO RUNTIME", "LOAD MYSQL USER app TO RUNTIME", "SAVE MYSQL USERS TO DISK"]
    {
        command(&mut layers, text);
    }
    assert_eq!(layers.snapshot().epoch, epoch, "it is the same password");
    assert_in_force(&layers);
    assert_in_force(&reopen(directory.path()));
}

#[test]
fn runtime_shows_no_secret_variable_and_its_sealed_form_is_one() {
    let directory = saved();
    let mut layers = reopen(directory.path());
    layers.set_variable("admin-admin_credentials", "op:hunter2").unwrap();
    command(&mut layers, "LOAD ADMIN VARIABLES TO RUNTIME");
    let in_force = layers.snapshot().admin.clone();
    let shown = |layers: &Layers, table: &str| {
        one(
            layers,
            &format!("SELECT variable_value FROM {table} WHERE variable_name = 'admin-admin_credentials'"),
        )
    };
    assert_eq!(shown(&layers, "global_variables"), "op:hunter2");
    assert!(shown(&layers, "runtime_global_variables").starts_with("$nuthatch$1$"));
    command(&mut layers, "SAVE ADMIN VARIABLES FROM RUNTIME");
    assert!(shown(&layers, "global_variables").starts_with("$nuthatch$1$"));
    command(&mut layers, "LOAD ADMIN VARIABLES TO RUNTIME");
    assert_eq!(layers.snapshot().admin, in_force, "it is the same secret");
}

#[test]
fn directory_with_secrets_in_clear_is_converted() {
    let directory = tempfile::tempdir().unwrap();
    made_by_version_1(directory.path());
    assert_in_force(&reopen(directory.path()));
    assert_nothing_in_clear(directory.path());
    assert_in_force(&reopen(directory.path()));
}

#[test]
fn lost_or_wrong_key_is_one_clear_sentence_and_the_right_one_opens_again() {
    let directory = saved();
    let key = key_of(directory.path());
    let aside = directory.path().join("aside");
    fs::rename(&key, &aside).unwrap();
    let missing = refusal(&at(directory.path()));
    assert!(missing.contains("open 4 secrets in") && missing.contains("is not there"), "{missing}");
    assert!(missing.contains(key.to_str().unwrap()) && missing.contains("--secrets-key"), "{missing}");
    assert!(!key.exists(), "a new key would hide the loss");
    fs::write(&key, [9; 32]).unwrap();
    let wrong = refusal(&at(directory.path()));
    assert!(wrong.contains("open 4 secrets in") && wrong.contains("the password of user \"app\""), "{wrong}");
    assert!(wrong.contains("not sealed with the key in"), "{wrong}");
    fs::write(&key, [9; 31]).unwrap();
    let short = refusal(&at(directory.path()));
    assert!(
        short.starts_with("use the key file") && short.ends_with("it holds 31 bytes, and a key has 32"),
        "{short}"
    );
    let elsewhere = at(directory.path()).with_key(aside);
    assert_in_force(&Layers::open(Some(&elsewhere), Seed::default(), &Seed::default()).unwrap().0);
}

#[test]
fn lost_secrets_can_be_forgotten_and_lock_their_users() {
    let directory = saved();
    fs::remove_file(key_of(directory.path())).unwrap();
    let datadir = at(directory.path()).forgetting_lost_secrets();
    let (layers, warnings) = Layers::open(Some(&datadir), Seed::default(), &Seed::default()).unwrap();
    let warnings: Vec<_> = warnings.iter().collect();
    assert_eq!(warnings.len(), 4, "{warnings:?}");
    assert!(
        warnings[0].starts_with("the password of user \"app\" cannot be opened and is forgotten"),
        "{warnings:?}"
    );
    assert!(layers.snapshot().users.frontend(b"app").is_none());
    assert_eq!(one(&layers, "SELECT active FROM mysql_users"), "0");
    let locked = one(&layers, "SELECT password FROM mysql_users");
    assert_eq!(
        Password::parse(locked.as_bytes()),
        Password::NativeHash([0; 20]),
        "not a user without a password"
    );
    assert_eq!(layers.snapshot().admin, AdminVariables::default());
    drop(layers);
    let (_, warnings) = Layers::open(Some(&datadir), Seed::default(), &Seed::default()).unwrap();
    assert!(warnings.iter().next().unwrap().starts_with("no secret is lost"), "{warnings:?}");
}

#[test]
fn what_an_admin_writes_to_disk_is_sealed_with_the_statement() {
    let directory = saved();
    let mut layers = reopen(directory.path());
    let write = |layers: &Layers, text: &str| {
        layers
            .sealing_disk(|connection| connection.execute_batch(text))
            .map(|done| done.map_err(StoreError::from))
    };
    for text in [
        "INSERT INTO disk.mysql_users (username, password)
             WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 500) SELECT 'many' || n, 'hunter2' FROM n",
        "DELETE FROM disk.mysql_users WHERE username LIKE 'many%'",
        "INSERT INTO disk.mysql_users (username, password) VALUES ('more', 'hunter2')",
        "REPLACE INTO disk.mysql_users SELECT * FROM main.mysql_users",
        "BEGIN",
        "UPDATE disk.global_variables SET variable_value = 'monitor-pw' WHERE variable_name = 'mysql-monitor_password'",
        "COMMIT",
    ] {
        match text {
            "BEGIN" | "COMMIT" => sql(&layers, text),
            text => write(&layers, text).unwrap().unwrap(),
        }
        assert_nothing_in_clear(directory.path());
    }
    assert_eq!(one(&layers, "SELECT count(*) FROM disk.mysql_users WHERE password LIKE '$nuthatch%'"), "2");
    let foreign =
        "UPDATE disk.mysql_users SET password = '$nuthatch$1$00', comment = 'new' WHERE username = 'app'";
    let error = write(&layers, foreign).err().unwrap();
    assert!(error.to_string().contains("\"app\" to disk: it was sealed with another key"), "{error}");
    write(&layers, "INSERT OR ROLLBACK INTO disk.mysql_users (username, password) VALUES ('app', 'x')")
        .unwrap()
        .unwrap_err();
    assert!(layers.connection().is_autocommit());
    assert_eq!(one(&layers, "SELECT count(*) FROM disk.mysql_users WHERE comment = 'new'"), "0");
    // And back again.
    sql(&layers, "DELETE FROM mysql_users; INSERT INTO main.mysql_users SELECT * FROM disk.mysql_users");
    sql(&layers, "REPLACE INTO global_variables SELECT * FROM disk.global_variables");
    for module in ["MYSQL USERS", "MYSQL VARIABLES", "ADMIN VARIABLES"] {
        let outcome = run(&mut layers, &format!("LOAD {module} TO RUNTIME"));
        assert!(!warnings(&outcome).iter().any(|warning| warning.contains("opened")), "{outcome:?}");
    }
    assert_in_force(&layers);
    assert_eq!(layers.snapshot().users.frontend(b"more").unwrap().password, Password::parse(b"hunter2"));
}

#[test]
fn statement_that_cannot_be_committed_leaves_no_transaction_open() {
    let directory = saved();
    let layers = reopen(directory.path());
    layers.connection().busy_timeout(std::time::Duration::from_millis(10)).unwrap();
    let write = || {
        let text = "UPDATE disk.mysql_users SET comment = 'new'";
        layers.sealing_disk(|connection| connection.execute_batch(text)).map(|done| done.unwrap())
    };
    let reader = Connection::open(directory.path().join("nuthatch.db")).unwrap();
    reader.execute_batch("BEGIN; SELECT * FROM mysql_users").unwrap();
    let error = write().unwrap_err();
    assert!(format!("{error:?}").contains("locked"), "{error:?}");
    assert!(layers.connection().is_autocommit());
    assert_eq!(one(&layers, "SELECT count(*) FROM disk.mysql_users WHERE comment = 'new'"), "0");
    reader.execute_batch("COMMIT").unwrap();
    write().unwrap();
}

#[test]
fn foreign_seal_in_memory_is_left_out_and_not_saved() {
    let directory = saved();
    let mut layers = reopen(directory.path());
    sql(&layers, "INSERT INTO mysql_users (username, password) VALUES ('stranger', '$nuthatch$1$00')");
    sql(
        &layers,
        "UPDATE global_variables SET variable_value = '$nuthatch$1$00' WHERE variable_name = 'mysql-monitor_password'",
    );
    let outcome = run(&mut layers, "LOAD MYSQL USERS TO RUNTIME");
    assert_eq!(
        warnings(&outcome),
        [
            "user \"stranger\": column \"password\" cannot be opened: it was sealed with another key, or is damaged; \
             the row is left out"
        ]
    );
    let outcome = run(&mut layers, "LOAD MYSQL VARIABLES TO RUNTIME");
    assert!(warnings(&outcome)[0].contains("\"mysql-monitor_password\" cannot be opened"), "{outcome:?}");
    assert_in_force(&layers);
    let error = layers.run(&Verb::parse("SAVE MYSQL USERS TO DISK").unwrap()).err().unwrap();
    assert!(error.to_string().contains("the password of user \"stranger\""), "{error}");
    command(&mut layers, "SAVE MYSQL VARIABLES TO DISK");
    assert_in_force(&reopen(directory.path()));
}

#[test]
fn admin_cannot_call_what_opens_secrets() {
    let layers = open(seed());
    for function in ["nuthatch_open", "NUTHATCH_FORM", "nuthatch_seal"] {
        let text = format!("SELECT {function}('mysql_users', username, password) FROM runtime_mysql_users");
        assert!(layers.connection().execute_batch(&text).is_err(), "{text}");
    }
}

#[test]
fn key_is_for_the_owner_only_and_may_lie_elsewhere() {
    let (directory, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let path = elsewhere.path().join("my.key");
    let datadir = at(directory.path()).with_key(path.clone());
    // What a crash or a stranger has left there.
    let (unfinished, strangers) = (elsewhere.path().join("my.key.new"), elsewhere.path().join("strangers"));
    std::os::unix::fs::symlink(&strangers, &unfinished).unwrap();
    drop(Layers::open(Some(&datadir), seed(), &Seed::default()).unwrap());
    assert!(!strangers.exists());
    assert!(!key_of(directory.path()).exists());
    let metadata = fs::metadata(&path).unwrap();
    assert_eq!((metadata.len(), metadata.permissions().mode() & 0o777), (32, 0o600));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let (_, warnings) = Layers::open(Some(&datadir), seed(), &Seed::default()).unwrap();
    assert!(warnings.iter().next().unwrap().contains("everybody on this host can read"), "{warnings:?}");
    let nowhere = at(directory.path()).with_key("/nowhere/at/all.key".into());
    assert!(refusal(&nowhere).starts_with("use the key file /nowhere/at/all.key: "));
}
