use crate::account::Account;
use crate::address::Address;
use crate::error::{require, Error, Result};
use crate::input::Input;
use crate::layout::{emit, Discriminated, Payment, PaymentRefunded, PaymentSettled, State};
use crate::treasury;

/// The payments' lamports are kept; their accounts end, with the rent to the payers.
///
/// Accounts: relay authority (signer), state (w), then pairs of payment (w) and its payer (w), at least one.
#[inline(never)]
pub fn settle(input: &Input) -> Result<()> {
    input.fields::<()>()?;
    let &[authority, state, ref pairs @ ..] = input.accounts else {
        return Err(Error::WrongAccountCount);
    };
    require(!pairs.is_empty() && pairs.len() % 2 == 0, Error::WrongAccountCount)?;
    let state = load_for_relay(authority, state, input.program)?;
    for pair in pairs.chunks_exact(2) {
        if let &[payment, payer] = pair {
            settle_one(state, payment, payer, input.program)?;
        }
    }
    Ok(())
}

#[inline(never)]
fn settle_one(state: &mut State, account: Account, payer: Account, program: &Address) -> Result<()> {
    let payment = Payment::load(account, program)?;
    payment.require_payer(payer)?;
    state.held_lamports = treasury::subtract(state.held_lamports, payment.lamports)?;
    state.kept_lamports = treasury::add(state.kept_lamports, payment.lamports)?;
    emit(&PaymentSettled {
        discriminator: PaymentSettled::DISCRIMINATOR,
        sequence: payment.sequence,
        quote_id: payment.quote_id,
    });
    account.close(payer)
}

/// The payment's lamports and its account's rent go back to who paid.
///
/// Accounts: relay authority (signer), state (w), treasury (w), payment (w), payer (w).
#[inline(never)]
pub fn refund(input: &Input) -> Result<()> {
    input.fields::<()>()?;
    let &[authority, state, treasury, account, payer] = input.accounts else {
        return Err(Error::WrongAccountCount);
    };
    let state = load_for_relay(authority, state, input.program)?;
    state.require_treasury(treasury, input.program)?;
    let payment = Payment::load(account, input.program)?;
    payment.require_payer(payer)?;
    state.held_lamports = treasury::subtract(state.held_lamports, payment.lamports)?;
    treasury.send(payer, payment.lamports)?;
    treasury::require_covered(treasury, state)?;
    emit(&PaymentRefunded {
        discriminator: PaymentRefunded::DISCRIMINATOR,
        sequence: payment.sequence,
        quote_id: payment.quote_id,
        payer: payment.payer,
        lamports: payment.lamports,
    });
    account.close(payer)
}

/// The state, to be changed, where it is the relay authority that signs.
pub fn load_for_relay(authority: Account, state: Account, program: &Address) -> Result<&'static mut State> {
    authority.require_signer()?;
    let state = State::load(state, program)?;
    require(authority.address().is(&state.relay_authority), Error::WrongAuthority)?;
    Ok(state)
}
