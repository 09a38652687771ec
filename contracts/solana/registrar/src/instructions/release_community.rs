use crate::account::Account;
use crate::address::TOKEN_PROGRAM;
use crate::community::{CommunityPayment, CommunityReleased, CommunityReturned, NATIVE, REFUSED};
use crate::address::VAULT_SEED;
use crate::error::{require, Error, Result};
use crate::input::Input;
use crate::layout::{emit, Discriminated};
use crate::syscalls::Bytes;
use crate::system;
use crate::token::{self, Transfer};

/// Pays a payment in SOL out: to its payer where it was refused, else to its recipient once the hold is over. Ends the
/// payment's account, with the rent to the payer. Anybody may.
///
/// Accounts: payment (w), payer (w), beneficiary (w).
#[inline(never)]
pub fn release_community(input: &Input) -> Result<()> {
    input.fields::<()>()?;
    let &[account, payer, beneficiary] = input.accounts else {
        return Err(Error::WrongAccountCount);
    };
    let payment = CommunityPayment::load(account, input.program)?;
    require(payment.token.is(&NATIVE), Error::WrongToken)?;
    require_due(payment, payer, beneficiary)?;
    beneficiary.require_writable()?;
    log(payment);
    account.send(beneficiary, payment.amount)?;
    account.close(payer)
}

/// The same of a payment in tokens. They go to the beneficiary's associated token account, or to any other of its own where
/// it signs.
///
/// Accounts: payment (w), payer (w), beneficiary, mint, vault (w), token account of the beneficiary (w), token program.
#[inline(never)]
pub fn release_community_token(input: &Input) -> Result<()> {
    input.fields::<()>()?;
    let &[account, payer, beneficiary, mint, vault, destination, token_program] = input.accounts else {
        return Err(Error::WrongAccountCount);
    };
    token_program.require_address(&TOKEN_PROGRAM)?;
    let payment = CommunityPayment::load(account, input.program)?;
    require(payment.token.is(mint.address()), Error::WrongToken)?;
    require_due(payment, payer, beneficiary)?;
    token::require_token_account(destination, mint, beneficiary.address())?;
    if !beneficiary.is_signer() {
        token::require_associated(destination, mint, beneficiary.address())?;
    }
    let bump = token::require_vault(vault, mint, input.program)?;
    let seeds = &[VAULT_SEED, mint.address().bytes(), Bytes::of(&bump)];
    token::transfer(&Transfer { from: vault, mint, to: destination, authority: vault, amount: payment.amount, seeds })?;
    log(payment);
    account.close(payer)
}

/// Checks that the money may go, and to this account.
#[inline(never)]
fn require_due(payment: &CommunityPayment, payer: Account, beneficiary: Account) -> Result<()> {
    payment.require_payer(payer)?;
    let is_refused = payment.state == REFUSED;
    let due_to = if is_refused { &payment.payer } else { &payment.recipient };
    require(beneficiary.address().is(due_to), Error::WrongBeneficiary)?;
    require(is_refused || system::clock().unix_timestamp >= payment.held_until, Error::StillHeld)
}

#[inline(never)]
fn log(payment: &CommunityPayment) {
    let &CommunityPayment { sequence, community, name, payer, recipient, token, amount, .. } = payment;
    if payment.state == REFUSED {
        let discriminator = CommunityReturned::DISCRIMINATOR;
        emit(&CommunityReturned { discriminator, sequence, community, name, payer, token, amount });
    } else {
        let discriminator = CommunityReleased::DISCRIMINATOR;
        emit(&CommunityReleased { discriminator, sequence, community, name, recipient, token, amount });
    }
}
