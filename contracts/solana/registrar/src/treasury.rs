use core::mem::size_of;

use crate::account::Account;
use crate::error::{require, Error, Result};
use crate::layout::{State, Treasury};
use crate::system::rent_exempt_minimum;

/// Holds the program's invariant: the treasury has its rent, what is kept and what is held for payers.
pub fn require_covered(treasury: Account, state: &State) -> Result<()> {
    let promised = add(state.kept_lamports, state.held_lamports)?;
    let needed = add(promised, rent_exempt_minimum(size_of::<Treasury>() as u64)?)?;
    require(treasury.lamports() >= needed, Error::TreasuryShort)
}

pub fn add(a: u64, b: u64) -> Result<u64> {
    a.checked_add(b).ok_or(Error::Overflow)
}

pub fn subtract(a: u64, b: u64) -> Result<u64> {
    a.checked_sub(b).ok_or(Error::Overflow)
}
