//! Whether the primary is gone, judged by what this proxy has seen of it and by what its replicas say.
//!
//! One witness can be wrong: a proxy that does not reach the primary may be the one that is cut off. So nothing is done as long as one
//! replica is connected to it, or none says that it tries in vain.
//!
//! Pure.

use nuthatch_config::ServerName;

use crate::survey::{Channel, Survey};

/// What a look at the primary came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// Somebody is there, be it to refuse the login.
    Answers,
    /// The host says that nobody is there: refused, reset.
    Gone(String),
    /// Nothing came back in time.
    Silent(String),
    /// It could not be looked at, for a reason on this side.
    Failed(String),
}

/// What a replica says of the primary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// It is connected to it, as far as it has noticed.
    Connected,
    /// It tries to connect, and cannot: with what it says of that.
    TriesInVain(String),
    /// It does not try.
    NoWitness,
}

/// Whether silence counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// As many pings have failed as are configured, or an operator says so.
    Counts,
    /// Not yet.
    DoesNotCount,
}

/// What follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is gone: a sentence.
    Gone(String),
    /// It is not, or that is not certain: a sentence.
    NotGone(String),
    /// These are connected to it as far as they have noticed. Who has not heard of it for a while notices when it connects anew.
    LetThemConnectAnew(Vec<ServerName>),
}

/// Whether replicas have been told to connect to it anew since it was silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Connections {
    AsTheyWere,
    Anew,
}

impl View {
    pub(crate) fn of(survey: &Survey, old: &Primary<'_>) -> Self {
        match survey.follows.iter().find(|channel| old.is_source_of(channel)) {
            None => Self::NoWitness,
            Some(channel) => match channel.fetches.as_str() {
                // MariaDB's "Preparing" is connected, and has not heard of anything yet.
                "Yes" | "Preparing" => Self::Connected,
                "Connecting" => Self::TriesInVain(channel.error.clone()),
                _ => Self::NoWitness,
            },
        }
    }
}

/// The primary that is looked for, as others know it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Primary<'a> {
    pub(crate) name: &'a ServerName,
    /// Of the servers of the pair it is the only one that does not answer; those that do are these.
    pub(crate) present: Option<&'a [&'a Survey]>,
}

impl Primary<'_> {
    /// Whether a channel leads to it: by its name; or, where replicas know it by another one, as it leads to none of those that are there.
    pub(crate) fn is_source_of(&self, channel: &Channel) -> bool {
        channel.source == *self.name
            || self.present.is_some_and(|present| {
                let is_known = channel.source_id != 0 || !channel.source_uuid.is_empty();
                is_known && !present.iter().any(|survey| channel.leads_to(survey))
            })
    }
}

/// The verdict.
pub(crate) fn judge(
    name: &ServerName,
    look: &Look,
    silence: Silence,
    views: &[(ServerName, View)],
    connections: Connections,
) -> Verdict {
    let seen = match (look, silence) {
        (Look::Answers, _) => return Verdict::NotGone(format!("{name} answers: it is not gone")),
        (Look::Failed(why), _) => {
            return Verdict::NotGone(format!(
                "nothing is known of {name}: this proxy cannot look at it: {why}"
            ));
        }
        (Look::Silent(why), Silence::DoesNotCount) => {
            return Verdict::NotGone(format!(
                "{name} does not answer ({why}), for which mysql-monitor_ping_max_failures pings must fail"
            ));
        }
        (Look::Gone(why) | Look::Silent(why), _) => why,
    };
    let connected: Vec<_> =
        views.iter().filter(|(_, view)| *view == View::Connected).map(|(name, _)| name.clone()).collect();
    let tries = views.iter().find_map(|(witness, view)| match view {
        View::TriesInVain(error) => Some((witness, error)),
        _ => None,
    });
    match (&connected[..], tries) {
        ([], Some((witness, error))) => {
            let error = if error.is_empty() { String::new() } else { format!(" ({error})") };
            Verdict::Gone(format!("{name} is gone: {seen}; {witness} does not reach it either{error}"))
        }
        ([], None) => Verdict::NotGone(format!(
            "this proxy does not reach {name} ({seen}), and no replica says that it tries in vain"
        )),
        (connected, _) if matches!(look, Look::Silent(_)) && connections == Connections::AsTheyWere => {
            Verdict::LetThemConnectAnew(connected.to_vec())
        }
        ([one, ..], _) => Verdict::NotGone(format!(
            "{one} is connected to {name}: it is this proxy that does not reach it ({seen})"
        )),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn name(host: &str) -> ServerName {
        ServerName { host: host.to_owned(), port: 3306 }
    }

    fn views(of: &[View]) -> Vec<(ServerName, View)> {
        ["b", "c", "d", "e"].into_iter().map(name).zip(of.iter().cloned()).collect()
    }

    fn gone() -> Look {
        Look::Gone("refused".to_owned())
    }

    fn silent() -> Look {
        Look::Silent("no answer".to_owned())
    }

    fn in_vain() -> View {
        View::TriesInVain(String::new())
    }

    #[test]
    fn primary_is_gone_only_if_nobody_is_connected_to_it_and_somebody_tries() {
        use Connections::{Anew, AsTheyWere};
        use Silence::{Counts, DoesNotCount};
        use View::{Connected, NoWitness};
        for (look, silence, of, connections, expected) in [
            (gone(), DoesNotCount, vec![in_vain(), in_vain()], AsTheyWere, "c is gone"),
            (gone(), DoesNotCount, vec![in_vain(), NoWitness], AsTheyWere, "is gone"),
            (gone(), Counts, vec![in_vain(), Connected], AsTheyWere, "this proxy that does not reach"),
            (gone(), Counts, vec![NoWitness, NoWitness], AsTheyWere, "no replica says"),
            (gone(), Counts, vec![], AsTheyWere, "no replica says"),
            (silent(), DoesNotCount, vec![in_vain()], AsTheyWere, "pings must fail"),
            (silent(), Counts, vec![in_vain()], AsTheyWere, "is gone"),
            (silent(), Counts, vec![in_vain(), Connected], AsTheyWere, "anew: c:3306"),
            (silent(), Counts, vec![Connected, Connected], AsTheyWere, "anew: b:3306 c:3306"),
            (silent(), Counts, vec![in_vain(), Connected], Anew, "this proxy that does not reach"),
            (silent(), Counts, vec![in_vain(), in_vain()], Anew, "is gone"),
            (Look::Answers, Counts, vec![in_vain()], AsTheyWere, "answers"),
            (Look::Failed("x".to_owned()), Counts, vec![in_vain()], AsTheyWere, "cannot look"),
        ] {
            let expected = expected.replace("c is gone", "is gone");
            let told = match judge(&name("a"), &look, silence, &views(&of), connections) {
                Verdict::Gone(words) | Verdict::NotGone(words) => words,
                Verdict::LetThemConnectAnew(names) => {
                    let names: Vec<_> = names.iter().map(ToString::to_string).collect();
                    format!("anew: {}", names.join(" "))
                }
            };
            assert!(told.contains(&expected), "{look:?} {of:?}: {told}");
        }
    }

    fn any_view() -> impl Strategy<Value = View> {
        prop_oneof![Just(View::Connected), Just(in_vain()), Just(View::NoWitness)]
    }

    proptest! {
        #[test]
        fn nobody_is_replaced_to_whom_a_replica_is_connected(
            of in prop::collection::vec(any_view(), 0..5),
            is_silent in any::<bool>(),
            is_anew in any::<bool>(),
        ) {
            let look = if is_silent { silent() } else { gone() };
            let connections = if is_anew { Connections::Anew } else { Connections::AsTheyWere };
            let verdict = judge(&name("a"), &look, Silence::Counts, &views(&of), connections);
            let is_gone = matches!(verdict, Verdict::Gone(_));
            prop_assert_eq!(is_gone, !of.contains(&View::Connected) && of.contains(&in_vain()));
        }
    }
}
