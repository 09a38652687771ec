use crate::account::Account;
use crate::error::{require, Error, Result};
use crate::layout::State;

/// Pays lamports out and holds the program's invariant: the treasury has what is kept and what is held for payers. No
/// rent is part of it, so that a dearer one can't stop a refund.
pub fn pay_out(treasury: Account, to: Account, lamports: u64, state: &State) -> Result<()> {
    treasury.send(to, lamports)?;
    require(treasury.lamports() >= add(state.kept_lamports, state.held_lamports)?, Error::TreasuryShort)
}

pub fn add(a: u64, b: u64) -> Result<u64> {
    a.checked_add(b).ok_or(Error::Overflow)
}

pub fn subtract(a: u64, b: u64) -> Result<u64> {
    a.checked_sub(b).ok_or(Error::Overflow)
}
