use core::mem::size_of;

use crate::address::{self, Word, PAYMENT_SEED, SYSTEM_PROGRAM};
use crate::error::{require, Error, Result};
use crate::event::Log;
use crate::input::Input;
use crate::layout::{Discriminated, Payment, RegistrationPaid, State};
use crate::syscalls::Bytes;
use crate::system::{self, NewAccount};
use crate::treasury;

/// `expires_at` is the last second (Unix time) at which the quote may be paid. All fields but `lamports` and
/// `expires_at` are only passed on: whoever watches judges them by the quote id.
#[repr(C)]
struct Quote {
    quote_id: Word,
    name: Word,
    amount_wei: [u64; 2],
    lamports: u64,
    expires_at: i64,
    referral: Word,
}

/// Accounts: payer (signer, writable), state (w), treasury (w), payment (w), system program, event authority,
/// program.
#[inline(never)]
pub fn register(input: &Input) -> Result<()> {
    let quote: &Quote = input.fields()?;
    let &[payer, state_account, treasury, payment_account, system_program, event_authority, this] = input.accounts else {
        return Err(Error::WrongAccountCount);
    };
    payer.require_signer()?;
    payer.require_writable()?;
    system_program.require_address(&SYSTEM_PROGRAM)?;
    let state = State::load(state_account, input.program)?;
    state.require_treasury(treasury, input.program)?;
    require(quote.lamports > 0, Error::ZeroLamports)?;
    let now = system::clock().unix_timestamp;
    require(now <= quote.expires_at, Error::QuoteExpired)?;
    let log = Log::open(state, [event_authority, this], input.program)?;

    let (paid_by, quote_id) = (payer.address().bytes(), quote.quote_id.bytes());
    let (expected, bump) = address::find(&[PAYMENT_SEED, paid_by, quote_id], input.program)?;
    payment_account.require_writable()?;
    payment_account.require_address(&expected)?;
    require(!payment_account.is_owned_by(input.program), Error::QuoteAlreadyPaid)?;

    state.sequence = treasury::add(state.sequence, 1)?;
    state.held_lamports = treasury::add(state.held_lamports, quote.lamports)?;
    let seeds = [PAYMENT_SEED, paid_by, quote_id, Bytes::of(&bump)];
    system::create(&NewAccount {
        payer,
        account: payment_account,
        program: input.program,
        bytes: size_of::<Payment>(),
        seeds: &seeds,
    })?;
    system::transfer(payer, treasury, quote.lamports);

    // The runtime has just filled it with zeros.
    let payment = unsafe { &mut *(payment_account.data() as *mut Payment) };
    payment.discriminator = Payment::DISCRIMINATOR;
    payment.payer = *payer.address();
    payment.quote_id = quote.quote_id;
    payment.lamports = quote.lamports;
    payment.sequence = state.sequence;
    payment.reclaimable_at = now.checked_add(state.reclaim_seconds as i64).ok_or(Error::Overflow)?;
    payment.bump = bump;
    log.emit(RegistrationPaid {
        discriminator: RegistrationPaid::DISCRIMINATOR,
        sequence: state.sequence,
        payer: *payer.address(),
        quote_id: quote.quote_id,
        name: quote.name,
        amount_wei: quote.amount_wei,
        lamports: quote.lamports,
        expires_at: quote.expires_at,
        referral: quote.referral,
        reclaimable_at: payment.reclaimable_at,
    });
    Ok(())
}
