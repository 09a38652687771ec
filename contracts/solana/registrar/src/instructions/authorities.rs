use crate::address::{Address, Word};
use crate::error::{require, Error, Result};
use crate::input::Input;
use crate::layout::{require_authority, State};

#[repr(C)]
struct Authorities {
    relay: Address,
    treasury: Address,
}

/// Accounts: admin authority (signer), state (w).
#[inline(never)]
pub fn set_authorities(input: &Input) -> Result<()> {
    let authorities: &Authorities = input.fields()?;
    let state = load_for_admin(input)?;
    state.relay_authority = authorities.relay;
    state.treasury_authority = authorities.treasury;
    Ok(())
}

/// The first step of a hand-over, which changes nothing: an address that can't sign never becomes the admin. Zero takes
/// a proposal back.
///
/// Accounts: admin authority (signer), state (w).
#[inline(never)]
pub fn propose_admin(input: &Input) -> Result<()> {
    let proposed: &Address = input.fields()?;
    load_for_admin(input)?.proposed_admin = *proposed;
    Ok(())
}

/// Accounts: proposed admin (signer), state (w).
#[inline(never)]
pub fn accept_admin(input: &Input) -> Result<()> {
    input.fields::<()>()?;
    let &[proposed, state] = input.accounts else {
        return Err(Error::WrongAccountCount);
    };
    let state = State::load(state, input.program)?;
    require(!state.proposed_admin.is(&Word::ZERO), Error::WrongAuthority)?;
    require_authority(proposed, &state.proposed_admin)?;
    state.admin_authority = state.proposed_admin;
    state.proposed_admin = Word::ZERO;
    Ok(())
}

#[inline(never)]
fn load_for_admin(input: &Input) -> Result<&'static mut State> {
    let &[admin, state] = input.accounts else {
        return Err(Error::WrongAccountCount);
    };
    let state = State::load(state, input.program)?;
    require_authority(admin, &state.admin_authority)?;
    Ok(state)
}
