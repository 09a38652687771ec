use crate::error::{require, Error, Result};
use crate::input::Input;
use crate::instructions::initialize::require_upgrade_authority;
use crate::instructions::settle::load_for_relay;
use crate::community::{CommunityName, CommunityPayment, CommunityRefused, CommunityReopened, HELD, REFUSED};
use crate::layout::{emit, Discriminated};
use crate::system;

/// Makes a payment that is held its payer's again, and the name free to be paid for. Moves nothing but the name's rent, so
/// that neither a token nor a payer can stand in its way: `release_community` pays the money out. The data names the
/// payment's sequence: a refusal that comes late can't hit a later payment.
///
/// Accounts: relay authority (signer), state (w), name (w), payment (w), payer (w).
#[inline(never)]
pub fn refuse_community(input: &Input) -> Result<()> {
    let &sequence: &u64 = input.fields()?;
    let &[authority, state, name_account, payment, payer] = input.accounts else {
        return Err(Error::WrongAccountCount);
    };
    load_for_relay(authority, state, input.program)?;
    let payment = CommunityPayment::load(payment, input.program)?;
    require(payment.state == HELD && payment.sequence == sequence, Error::CommunityPaymentNotHeld)?;
    payment.require_payer(payer)?;
    require(system::clock().unix_timestamp < payment.held_until, Error::HoldOver)?;
    let name = CommunityName::load(name_account, input.program)?;
    require(name.sequence == sequence, Error::CommunityPaymentNotHeld)?;
    payment.state = REFUSED;
    emit(&CommunityRefused {
        discriminator: CommunityRefused::DISCRIMINATOR,
        sequence,
        community: payment.community,
        name: payment.name,
        payer: payment.payer,
        token: payment.token,
        amount: payment.amount,
    });
    name_account.close(payer)
}

/// Lets a name be paid for again whose payment bought nothing, yet was not refused in time. Moves nothing but the name's rent.
///
/// Accounts: upgrade authority (signer), program data, name (w), payer (w).
#[inline(never)]
pub fn reopen_community(input: &Input) -> Result<()> {
    input.fields::<()>()?;
    let &[authority, program_data, name_account, payer] = input.accounts else {
        return Err(Error::WrongAccountCount);
    };
    require_upgrade_authority(authority, program_data, input.program)?;
    let name = CommunityName::load(name_account, input.program)?;
    payer.require_writable()?;
    require(payer.address().is(&name.payer), Error::WrongPayer)?;
    require(system::clock().unix_timestamp >= name.held_until, Error::StillHeld)?;
    emit(&CommunityReopened {
        discriminator: CommunityReopened::DISCRIMINATOR,
        sequence: name.sequence,
        community: name.community,
        name: name.name,
    });
    name_account.close(payer)
}
