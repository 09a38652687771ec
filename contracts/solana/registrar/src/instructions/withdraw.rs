use crate::error::{require, Error, Result};
use crate::input::Input;
use crate::layout::{require_authority, State};
use crate::treasury;

#[repr(C)]
struct Withdrawal {
    lamports: u64,
}

/// Kept lamports go to any account but one of this program's own, where they would be stuck.
///
/// Accounts: treasury authority (signer), state (w), treasury (w), destination (w).
#[inline(never)]
pub fn withdraw(input: &Input) -> Result<()> {
    let &Withdrawal { lamports } = input.fields()?;
    let &[authority, state, treasury, destination] = input.accounts else {
        return Err(Error::WrongAccountCount);
    };
    let state = State::load(state, input.program)?;
    require_authority(authority, &state.treasury_authority)?;
    state.require_treasury(treasury, input.program)?;
    destination.require_writable()?;
    require(!destination.is_owned_by(input.program), Error::InvalidDestination)?;
    require(lamports > 0, Error::ZeroLamports)?;
    state.kept_lamports = state.kept_lamports.checked_sub(lamports).ok_or(Error::InsufficientKept)?;
    treasury::pay_out(treasury, destination, lamports, state)
}
