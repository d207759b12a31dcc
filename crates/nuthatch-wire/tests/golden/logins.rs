//! Greetings, logins and the answers to nonces that real servers accepted.

use nuthatch_wire::{
    AuthSwitch, CapabilityFlags, ErrPacket, Greeting, Login, NATIVE_PASSWORD_PLUGIN, Nonce, OkPacket,
    SHA2_PASSWORD_PLUGIN, Sha2Stage1, Stage1, StatusFlags, double_sha1, scramble, scramble_stage1, verify,
};

use crate::recorded::{MARIADB, MYSQL, Recorded, SERVERS, Side, all};

const PASSWORD: &[u8] = b"golden-password";

/// The recorded logins, each with its greeting: all but the one that was refused at once.
fn logins() -> Vec<(Recorded, Greeting)> {
    let with_greeting = all().into_iter().filter(|recorded| recorded.file() != "login-too-many");
    with_greeting
        .map(|recorded| {
            let greeting = Greeting::parse(&recorded.login().packets[0].payload).unwrap();
            (recorded, greeting)
        })
        .collect()
}

fn login_of(recorded: &Recorded) -> Login {
    Login::parse(&recorded.login().question().payload).unwrap()
}

#[test]
fn greeting_is_read_and_written_as_the_server_wrote_it() {
    for (recorded, greeting) in logins() {
        let mut written = Vec::new();
        greeting.encode(&mut written);
        assert_eq!(written, recorded.login().packets[0].payload, "{}", recorded.name);
        assert_eq!(greeting.version, recorded.fact("server").as_bytes());
        assert_eq!(greeting.status, StatusFlags::SERVER_STATUS_AUTOCOMMIT);
        let is_mysql = recorded.server() == MYSQL;
        let has_long_password = greeting.capabilities.contains(CapabilityFlags::CLIENT_LONG_PASSWORD);
        assert_eq!(
            (has_long_password, !greeting.capabilities.intersects(CapabilityFlags::MARIADB)),
            (is_mysql, is_mysql)
        );
        let plugin = if is_mysql { SHA2_PASSWORD_PLUGIN } else { NATIVE_PASSWORD_PLUGIN };
        assert_eq!(greeting.auth_plugin, plugin, "{}", recorded.name);
    }
}

#[test]
fn connection_has_the_number_that_its_greeting_says() {
    for (server, label) in SERVERS.map(|server| (server, "SELECT CONNECTION_ID()")) {
        let recorded = Recorded::read(server, "own-answers-ok");
        let greeting = Greeting::parse(&recorded.login().packets[0].payload).unwrap();
        let row = recorded.step(label).of(Side::Server).nth(2).unwrap();
        assert_eq!(row.payload[1..], *greeting.connection_id.to_string().as_bytes());
    }
}

#[test]
fn login_is_read_and_written_as_the_client_wrote_it() {
    for (recorded, _) in logins() {
        let payload = &recorded.login().question().payload;
        let login = login_of(&recorded);
        assert_eq!(login.user, recorded.fact("user").as_bytes(), "{}", recorded.name);
        let schema = match recorded.file() {
            "login-no-schema" => None,
            "login-unknown-schema" => Some(b"nowhere".to_vec()),
            _ => Some(b"golden".to_vec()),
        };
        assert_eq!(login.schema, schema, "{}", recorded.name);
        assert_eq!(login.attributes, b"\x0cprogram_name\x06golden", "{}", recorded.name);
        assert_eq!((login.max_packet_bytes, login.collation), (1 << 24, 45));
        let zstd_level = if recorded.file() == "compressed-zstd" { 3 } else { 0 };
        assert_eq!(login.zstd_level, zstd_level, "{}", recorded.name);
        let mut written = Vec::new();
        login.encode(&mut written);
        assert_eq!(&written, payload, "{}", recorded.name);
    }
}

/// What a server wanted answered, and what the client answered.
struct Asked {
    plugin: Vec<u8>,
    nonce: Nonce,
    answer: Vec<u8>,
    password: Vec<u8>,
}

/// Nonces of 20 bytes with their answers, of the greeting and of each switch.
fn asked() -> Vec<Asked> {
    let mut asked = Vec::new();
    for (recorded, greeting) in logins() {
        let password = recorded.fact("password").as_bytes().to_vec();
        let login = login_of(&recorded);
        if login.auth_plugin == greeting.auth_plugin {
            let (plugin, nonce, answer) = (greeting.auth_plugin, greeting.nonce, login.auth_answer);
            asked.push(Asked { plugin, nonce, answer, password: password.clone() });
        }
        for pair in recorded.steps.iter().flat_map(|step| step.packets.windows(2)) {
            if let Ok(switch) = AuthSwitch::parse(&pair[0].payload)
                && let Ok(nonce) = switch.data.as_slice().try_into()
                && pair[1].side == Side::Client
            {
                let (plugin, answer) = (switch.plugin, pair[1].payload.clone());
                asked.push(Asked { plugin, nonce, answer, password: password.clone() });
            }
        }
    }
    asked
}

#[test]
fn answers_to_nonces_are_those_of_the_client() {
    let (mut native, mut sha2, mut empty) = (0, 0, 0);
    for Asked { plugin, nonce, answer, password } in asked() {
        let is_right = password == PASSWORD;
        if password.is_empty() {
            assert!(answer.is_empty());
            empty += 1;
        } else if plugin == NATIVE_PASSWORD_PLUGIN {
            assert_eq!(scramble(&nonce, &password), answer);
            assert_eq!(scramble_stage1(&nonce, Stage1::of(&password)), *answer);
            let proven = verify(&nonce, &double_sha1(PASSWORD), &answer);
            assert_eq!(proven, is_right.then(|| Stage1::of(PASSWORD)));
            native += 1;
        } else {
            assert_eq!(plugin, SHA2_PASSWORD_PLUGIN);
            let stage1 = Sha2Stage1::of(&password);
            assert_eq!(stage1.answer(&nonce), *answer);
            let known = Sha2Stage1::of(PASSWORD);
            assert_eq!(Sha2Stage1::proven(&nonce, &known.double(), &answer), is_right.then_some(known));
            sha2 += 1;
        }
    }
    assert!(native > 20 && sha2 > 20 && empty == 3, "{native} {sha2} {empty}");
}

#[test]
fn switch_is_read_and_written_as_the_server_wrote_it() {
    for (server, file, plugin, nonce_len) in [
        (MARIADB[0], "login-switch-native", NATIVE_PASSWORD_PLUGIN, 20),
        (MARIADB[1], "login-switch-native", NATIVE_PASSWORD_PLUGIN, 20),
        (MARIADB[0], "login-ed25519", b"client_ed25519", 32),
        (MARIADB[1], "login-ed25519", b"client_ed25519", 32),
        (MYSQL, "login-switch-sha2", SHA2_PASSWORD_PLUGIN, 20),
    ] {
        let recorded = Recorded::read(server, file);
        let payload = &recorded.login().packets[2].payload;
        let switch = AuthSwitch::parse(payload).unwrap();
        assert_eq!((switch.plugin.as_slice(), switch.data.len()), (plugin, nonce_len), "{}", recorded.name);
        let mut written = Vec::new();
        switch.encode(&mut written);
        assert_eq!(&written, payload, "{}", recorded.name);
    }
}

#[test]
fn login_ends_with_ok_or_with_the_refusal() {
    for (recorded, _) in logins() {
        let last = &recorded.login().packets.last().unwrap().payload;
        let expected = match recorded.file() {
            "login-unknown-schema" => Some((1049, *b"42000")),
            "login-nobody" => Some((1045, *b"28000")),
            file if file.ends_with("wrong-password") => Some((1045, *b"28000")),
            _ => None,
        };
        let Some(expected) = expected else {
            let (marker, body) = last.split_first().unwrap();
            let status = OkPacket::parse_body(body).unwrap().status;
            let flags = StatusFlags::SERVER_STATUS_AUTOCOMMIT | StatusFlags::SERVER_SESSION_STATE_CHANGED;
            assert!(*marker == 0 && flags.contains(status), "{}: {status:?}", recorded.name);
            continue;
        };
        let refusal = ErrPacket::parse(last).unwrap();
        assert_eq!((refusal.code, refusal.sql_state), expected, "{}", recorded.name);
    }
}

#[test]
fn refusal_in_place_of_a_greeting_has_no_sqlstate() {
    for server in SERVERS {
        let recorded = Recorded::read(server, "login-too-many");
        let refusal = ErrPacket::parse(&recorded.login().packets[0].payload).unwrap();
        assert_eq!(
            (refusal.code, refusal.message.as_slice()),
            (1040, &b"Too many connections"[..]),
            "{server}"
        );
    }
}

#[test]
fn server_that_does_not_remember_the_password_asks_for_it_by_its_key() {
    let lens = |file| -> Vec<usize> {
        let recorded = Recorded::read(MYSQL, file);
        recorded.login().packets.iter().skip(2).map(|packet| packet.payload.len()).collect()
    };
    // Full authentication, the wish for the key, the key, the password under it, the verdict.
    assert_eq!(lens("login-sha2-full"), [2, 1, 452, 256, 7]);
    assert_eq!(lens("login-sha2-full-wrong-password")[..4], [2, 1, 452, 256]);
    // Fast: told so, then OK.
    assert_eq!(lens("login-sha2-fast"), [2, 7]);
    let fast = Recorded::read(MYSQL, "login-sha2-fast");
    assert_eq!(fast.login().packets[2].payload, [1, 3]);
    assert_eq!(fast.login().packets[3].sequence(), 3);
}
