//! What a proxy must know of a statement: tokens, digest, class, session effects.
