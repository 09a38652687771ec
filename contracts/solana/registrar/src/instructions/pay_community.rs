use core::mem::size_of;

use crate::account::Account;
use crate::address::{self, Address, Word, COMMUNITY_SEED, SYSTEM_PROGRAM, TOKEN_PROGRAM};
use crate::community::{require_name, CommunityPaid, CommunityPayment, HELD, NATIVE};
use crate::error::{require, Error, Result};
use crate::event::Log;
use crate::input::Input;
use crate::layout::{Discriminated, State};
use crate::syscalls::Bytes;
use crate::system::{self, NewAccount};
use crate::token::{self, Transfer};
use crate::treasury;

/// What is paid for what. What a name costs is not known here, nor whether it is taken: whoever watches judges the
/// payment, and has it released or refused. A number distinguishes the payer's open payments.
#[repr(C)]
struct Terms {
    number: u64,
    community: Word,
    name: Word,
    recipient: Address,
    /// Base units.
    amount: u64,
    referral: Word,
}

/// What payments in SOL and in tokens have in common.
struct Order<'a> {
    program: &'a Address,
    terms: &'a Terms,
    payer: Account,
    state: Account,
    payment: Account,
    system_program: Account,
    log: [Account; 2],
    token: &'a Address,
}

/// The payment's own account holds the lamports.
///
/// Accounts: payer (signer, writable), state (w), payment (w), system program, event authority, program.
#[inline(never)]
pub fn pay_community(input: &Input) -> Result<()> {
    let terms: &Terms = input.fields()?;
    let &[payer, state, payment, system_program, event_authority, this] = input.accounts else {
        return Err(Error::WrongAccountCount);
    };
    let log = [event_authority, this];
    open(&Order { program: input.program, terms, payer, state, payment, system_program, log, token: &NATIVE })?;
    system::transfer(payer, payment, terms.amount);
    Ok(())
}

/// The mint's vault holds the tokens. The data ends with the mint's decimals, as the payer knows them.
///
/// Accounts: payer (signer, writable), state (w), payment (w), system program, mint, token account of the payer (w),
/// vault (w), token program, event authority, program.
#[inline(never)]
pub fn pay_community_token(input: &Input) -> Result<()> {
    let (terms, decimals) = input.fields_and_byte::<Terms>()?;
    let &[payer, state, payment, system_program, mint, source, vault, token_program, event_authority, this] =
        input.accounts
    else {
        return Err(Error::WrongAccountCount);
    };
    token_program.require_address(&TOKEN_PROGRAM)?;
    require(token::decimals_of(mint)? == decimals, Error::WrongDecimals)?;
    token::require_token_account(source, mint, payer.address())?;
    let (token, log) = (mint.address(), [event_authority, this]);
    open(&Order { program: input.program, terms, payer, state, payment, system_program, log, token })?;
    token::ensure_vault(payer, vault, mint, input.program)?;
    token::transfer(&Transfer { from: source, mint, to: vault, authority: payer, amount: terms.amount, seeds: &[] })
}

/// Checks the terms, makes the account and says so; the money is still to be moved.
#[inline(never)]
fn open(order: &Order) -> Result<()> {
    let &Order { program, terms, payer, .. } = order;
    payer.require_signer()?;
    payer.require_writable()?;
    order.system_program.require_address(&SYSTEM_PROGRAM)?;
    let state = State::load(order.state, program)?;
    let log = Log::open(state, order.log, program)?;
    require_name(&terms.community)?;
    require_name(&terms.name)?;
    require(!terms.recipient.is(&Address::ZERO), Error::ZeroRecipient)?;
    require(terms.amount > 0, Error::ZeroAmount)?;

    state.community_sequence = treasury::add(state.community_sequence, 1)?;
    let now = system::clock().unix_timestamp;
    let bump = create(order)?;
    // The runtime has just filled it with zeros.
    let payment = unsafe { &mut *(order.payment.data() as *mut CommunityPayment) };
    payment.discriminator = CommunityPayment::DISCRIMINATOR;
    payment.payer = *payer.address();
    payment.number = terms.number;
    payment.token = *order.token;
    payment.amount = terms.amount;
    payment.recipient = terms.recipient;
    payment.sequence = state.community_sequence;
    payment.reclaimable_at = now.checked_add(state.reclaim_seconds as i64).ok_or(Error::Overflow)?;
    payment.state = HELD;
    payment.bump = bump;
    log.emit(CommunityPaid {
        discriminator: CommunityPaid::DISCRIMINATOR,
        sequence: payment.sequence,
        payer: payment.payer,
        number: payment.number,
        token: payment.token,
        amount: payment.amount,
        recipient: payment.recipient,
        community: terms.community,
        name: terms.name,
        referral: terms.referral,
        reclaimable_at: payment.reclaimable_at,
    });
    Ok(())
}

#[inline(never)]
fn create(order: &Order) -> Result<u8> {
    let &Order { terms, payer, payment: account, program, .. } = order;
    account.require_writable()?;
    let (paid_by, number) = (payer.address().bytes(), Bytes::of(&terms.number));
    let (expected, bump) = address::find(&[COMMUNITY_SEED, paid_by, number], program)?;
    account.require_address(&expected)?;
    require(!account.is_owned_by(program), Error::NumberInUse)?;
    let seeds = &[COMMUNITY_SEED, paid_by, number, Bytes::of(&bump)];
    system::create(&NewAccount { payer, account, program, bytes: size_of::<CommunityPayment>(), seeds })?;
    Ok(bump)
}
