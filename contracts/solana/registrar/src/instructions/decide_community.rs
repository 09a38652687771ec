use crate::account::Account;
use crate::address::{Address, TOKEN_PROGRAM};
use crate::community::{CommunityPayment, CommunityRefused, CommunityReleased, HELD, NATIVE, REFUSED, RELEASED};
use crate::error::{require, Error, Result};
use crate::event::Log;
use crate::input::Input;
use crate::layout::{require_payer, Discriminated, State};
use crate::system;
use crate::token::{self, Payout};

/// Gives payments back to their payers. Nothing of a payer's can stand in the way: what can't be paid at once, as to a
/// frozen token account, waits for the payer to collect it.
///
/// Accounts: see `decide`; who is paid is the payer.
#[inline(never)]
pub fn refuse_community(input: &Input) -> Result<()> {
    decide(input, REFUSED)
}

/// Pays payments out to their recipients. What can't be paid at once waits for the recipient to collect it.
///
/// Accounts: see `decide`.
#[inline(never)]
pub fn release_community(input: &Input) -> Result<()> {
    decide(input, RELEASED)
}

/// The data names the payments' sequences: what comes late can't hit a later payment under the same number.
///
/// Accounts: relay authority (signer), state, token program, event authority, program, then of each payment: payment
/// (w), payer (w), who is paid (w), and where it is in tokens mint, vault (w), associated token account of who is paid
/// (w).
#[inline(never)]
fn decide(input: &Input, outcome: u8) -> Result<()> {
    let sequences = input.sequences()?;
    let &[authority, state, token_program, event_authority, this, ref groups @ ..] = input.accounts else {
        return Err(Error::WrongAccountCount);
    };
    let state = State::read(state, input.program)?;
    state.require_relay(authority)?;
    token_program.require_address(&TOKEN_PROGRAM)?;
    let log = Log::open(state, [event_authority, this], input.program)?;
    let decision = Decision { program: input.program, log: &log, outcome };
    let mut rest = groups;
    for &sequence in sequences {
        rest = decide_one(&decision, u64::from_le_bytes(sequence), rest)?;
    }
    require(rest.is_empty(), Error::WrongAccountCount)
}

struct Decision<'a> {
    program: &'a Address,
    log: &'a Log<'a>,
    outcome: u8,
}

/// Decides the payment that comes first among the accounts. Gives the others.
#[inline(never)]
fn decide_one<'a>(decision: &Decision, sequence: u64, accounts: &'a [Account]) -> Result<&'a [Account]> {
    let &[account, payer, to, ref rest @ ..] = accounts else {
        return Err(Error::WrongAccountCount);
    };
    let payment = CommunityPayment::load(account, sequence, decision.program)?;
    require(payment.state == HELD, Error::CommunityPaymentNotHeld)?;
    require_payer(payer, &payment.payer)?;
    let due_to = if decision.outcome == REFUSED { &payment.payer } else { &payment.recipient };
    require(to.address().is(due_to), Error::WrongBeneficiary)?;
    to.require_writable()?;
    if payment.token.is(&NATIVE) {
        let lamports = if to.address().is(&payment.payer) { account.lamports() } else { payment.amount };
        let is_paid = can_take(to, lamports);
        log(decision, payment, is_paid);
        if is_paid {
            account.send(to, payment.amount)?;
        }
        close(decision, account, payer, is_paid)?;
        return Ok(rest);
    }
    let &[mint, vault, destination, ref rest @ ..] = rest else {
        return Err(Error::WrongAccountCount);
    };
    require(payment.token.is(mint.address()), Error::WrongToken)?;
    token::require_associated(destination, mint, to.address())?;
    let bump = token::require_vault(vault, mint, decision.program)?;
    let is_paid = token::is_open(destination, mint, to.address()) && token::is_open(vault, mint, vault.address());
    log(decision, payment, is_paid);
    if is_paid {
        token::pay_out(&Payout { mint, vault, bump, destination, amount: payment.amount })?;
    }
    close(decision, account, payer, is_paid)?;
    Ok(rest)
}

/// Whether an account can take lamports: none may be left with less than its rent.
fn can_take(account: Account, lamports: u64) -> bool {
    account.lamports() > 0 || system::rent_exempt_minimum(0).is_ok_and(|least| lamports >= least)
}

/// Ends a payment's account, or leaves it to who may collect from it.
fn close(decision: &Decision, account: Account, payer: Account, is_paid: bool) -> Result<()> {
    if is_paid {
        return account.close(payer);
    }
    unsafe { (*(account.data() as *mut CommunityPayment)).state = decision.outcome };
    Ok(())
}

#[inline(never)]
fn log(decision: &Decision, payment: &CommunityPayment, is_paid: bool) {
    let &CommunityPayment { sequence, payer, recipient, token, amount, .. } = payment;
    let paid = if is_paid { amount } else { 0 };
    if decision.outcome == REFUSED {
        let discriminator = CommunityRefused::DISCRIMINATOR;
        decision.log.emit(CommunityRefused { discriminator, sequence, payer, token, amount, paid });
    } else {
        let discriminator = CommunityReleased::DISCRIMINATOR;
        decision.log.emit(CommunityReleased { discriminator, sequence, recipient, token, amount, paid });
    }
}
