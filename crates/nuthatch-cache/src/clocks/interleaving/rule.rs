//! The rules that a test can leave out.

/// What sessions keep to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// A writer raises its clocks before it sends.
    RaiseBeforeSending,
    /// A reader notes the moment before it sends.
    NoteBeforeSending,
    /// A reader loads wide clocks before narrow ones.
    LoadWideFirst,
    /// A reader neither serves nor stores while a clock is pending.
    RefusePending,
    /// An answer that shows a key missing depends on the appearance of rows.
    DependOnAbsent,
    /// A writer moves the row that it learned before it lowers what it held for it.
    MoveNarrowBeforeLoweringWide,
    /// A clock never goes back.
    MoveByMaximum,
    /// A version is drawn when the write can be seen by all.
    DrawAfterAcknowledgement,
    /// Who has waited for what another asked is given what holds then.
    LookUpPastWaiting,
    /// Marks of a lost write are held until the server's thread is gone.
    HoldUntilKnown,
    /// The follower of the binlog raises what a write shows before it acknowledges it to the server.
    RaiseBeforeAcknowledging,
    /// The server waits for the follower before others see a write, and not only before its client hears of it.
    WaitBeforeVisible,
    /// What a write past the proxy shows is held until the server is proven to show it.
    ProveVisible,
    /// Nothing is served without a lease, which ends before the server gives the follower up.
    HoldLease,
    /// The lease is looked at when the command is there, and not before.
    LookAtLeaseLast,
    /// The moment up to which the binlog was carried is noted before the server is asked for its end.
    NoteBeforeAskingForEnd,
    /// It counts only when all up to that end is raised.
    CarryToTheEnd,
    /// Within the bound a snapshot is given nothing before all is carried that was written when it was opened.
    CarryPastSnapshot,
    /// Nor an answer that may show what is not carried yet.
    CarryPastAnswer,
    /// What is carried is looked at before the clocks.
    LookAtCarriedFirst,
    /// The moment of which a replica is proven to show everything is noted before its primary is asked for the end.
    NoteBeforeProvingReplica,
    /// What a replica has answered is served when all is carried that was written by then: it may show what its primary does not yet.
    CarryPastReplica,
    /// To a snapshot that is older than an answer about what rows hold, any change of their table counts: events may not have shown that then.
    DependOnAnyBeforeAnswer,
    /// What a write through the proxy does not tell is held past its answer, until its event is carried.
    HoldPastAnswer,
    /// The end up to which that is carried is asked for when the answer is there.
    AskForEndPastAnswer,
    /// What is held for too long moves.
    MoveWhatIsLate,
    /// An answer about what rows hold depends on the writes of which that is not known yet.
    DependOnValued,
    /// What rows hold counts only for answers asked for when all is settled whose events did not show it.
    SettleUnlearntFirst,
}
