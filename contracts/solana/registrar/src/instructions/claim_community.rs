use crate::address::TOKEN_PROGRAM;
use crate::community::{CommunityCollected, CommunityPayment, CommunityReclaimed, HELD, NATIVE, RELEASED};
use crate::error::{require, Error, Result};
use crate::event::Log;
use crate::input::Input;
use crate::layout::{require_payer, Discriminated, State};
use crate::system;
use crate::token::{self, Payout};

/// Pays a payment to its owner, who signs: to the payer where nobody has decided in time, else to whom the relay
/// authority's word has made it belong. Tokens go to any token account of that owner's.
///
/// Accounts: owner (signer, writable), state, payment (w), payer (w), token program, event authority, program, and
/// where it is in tokens mint, vault (w), token account of the owner (w).
#[inline(never)]
pub fn claim_community(input: &Input) -> Result<()> {
    let &sequence: &u64 = input.fields()?;
    let &[owner, state, account, payer, token_program, event_authority, this, ref tokens @ ..] = input.accounts else {
        return Err(Error::WrongAccountCount);
    };
    owner.require_signer()?;
    owner.require_writable()?;
    token_program.require_address(&TOKEN_PROGRAM)?;
    let state = State::read(state, input.program)?;
    let log = Log::open(state, [event_authority, this], input.program)?;
    let payment = CommunityPayment::load(account, sequence, input.program)?;
    require_payer(payer, &payment.payer)?;
    let due_to = if payment.state == RELEASED { &payment.recipient } else { &payment.payer };
    require(owner.address().is(due_to), Error::WrongBeneficiary)?;
    let is_due = payment.state != HELD || system::clock().unix_timestamp >= payment.reclaimable_at;
    require(is_due, Error::NotReclaimable)?;
    write(&log, payment);
    if payment.token.is(&NATIVE) {
        require(tokens.is_empty(), Error::WrongAccountCount)?;
        account.send(owner, payment.amount)?;
        return account.close(payer);
    }
    let &[mint, vault, destination] = tokens else {
        return Err(Error::WrongAccountCount);
    };
    require(payment.token.is(mint.address()), Error::WrongToken)?;
    token::require_token_account(destination, mint, owner.address())?;
    let bump = token::require_vault(vault, mint, input.program)?;
    token::pay_out(&Payout { mint, vault, bump, destination, amount: payment.amount })?;
    account.close(payer)
}

#[inline(never)]
fn write(log: &Log, payment: &CommunityPayment) {
    let &CommunityPayment { sequence, payer, recipient, token, amount, state, .. } = payment;
    if state == HELD {
        let discriminator = CommunityReclaimed::DISCRIMINATOR;
        log.emit(CommunityReclaimed { discriminator, sequence, payer, token, amount });
    } else {
        let beneficiary = if state == RELEASED { recipient } else { payer };
        let discriminator = CommunityCollected::DISCRIMINATOR;
        log.emit(CommunityCollected { discriminator, sequence, beneficiary, token, amount });
    }
}
