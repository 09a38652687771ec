use core::mem::size_of;

use crate::account::Account;
use crate::address::{
    self, Address, Word, COMMUNITY_NAME_SEED, COMMUNITY_PAYMENT_SEED, SYSTEM_PROGRAM, TOKEN_PROGRAM,
};
use crate::community::{require_name, CommunityName, CommunityPaid, CommunityPayment, HELD, NATIVE};
use crate::error::{require, Error, Result};
use crate::input::Input;
use crate::layout::{emit, Discriminated, State};
use crate::syscalls::Bytes;
use crate::system::{self, NewAccount};
use crate::token::{self, Transfer};
use crate::treasury;

/// What is paid for what. What a name costs is not known here: whoever watches judges the payment, and has it refused.
#[repr(C)]
struct Terms {
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
    name: Account,
    payment: Account,
    system_program: Account,
    token: &'a Address,
}

/// The payment's own account holds the lamports.
///
/// Accounts: payer (signer, writable), state (w), name (w), payment (w), system program.
#[inline(never)]
pub fn pay_community(input: &Input) -> Result<()> {
    let terms: &Terms = input.fields()?;
    let &[payer, state, name, payment, system_program] = input.accounts else {
        return Err(Error::WrongAccountCount);
    };
    let order = Order { program: input.program, terms, payer, state, name, payment, system_program, token: &NATIVE };
    open(&order)?;
    system::transfer(payer, payment, terms.amount);
    log(&order);
    Ok(())
}

/// The mint's vault holds the tokens. The data ends with the mint's decimals, as the payer knows them.
///
/// Accounts: payer (signer, writable), state (w), name (w), payment (w), system program, mint, token account of the payer
/// (w), vault (w), token program.
#[inline(never)]
pub fn pay_community_token(input: &Input) -> Result<()> {
    let (terms, decimals) = input.fields_and_byte::<Terms>()?;
    let &[payer, state, name, payment, system_program, mint, source, vault, token_program] = input.accounts else {
        return Err(Error::WrongAccountCount);
    };
    token_program.require_address(&TOKEN_PROGRAM)?;
    require(token::decimals_of(mint)? == decimals, Error::WrongDecimals)?;
    token::require_token_account(source, mint, payer.address())?;
    let token = mint.address();
    let order = Order { program: input.program, terms, payer, state, name, payment, system_program, token };
    open(&order)?;
    token::ensure_vault(payer, vault, mint, input.program)?;
    token::transfer(&Transfer { from: source, mint, to: vault, authority: payer, amount: terms.amount, seeds: &[] })?;
    log(&order);
    Ok(())
}

/// Checks the terms and makes the two accounts; the money is still to be moved.
#[inline(never)]
fn open(order: &Order) -> Result<()> {
    let &Order { program, terms, payer, .. } = order;
    payer.require_signer()?;
    payer.require_writable()?;
    order.system_program.require_address(&SYSTEM_PROGRAM)?;
    let state = State::load(order.state, program)?;
    require_name(&terms.community)?;
    require_name(&terms.name)?;
    require(!terms.recipient.is(&Address::ZERO), Error::ZeroRecipient)?;
    require(terms.amount > 0, Error::ZeroAmount)?;

    state.community_sequence = treasury::add(state.community_sequence, 1)?;
    let clock = system::clock();
    let held_until = clock.unix_timestamp.checked_add(state.hold_seconds as i64).ok_or(Error::Overflow)?;

    let bump = create_name(order)?;
    // The runtime has just filled it with zeros.
    let name = unsafe { &mut *(order.name.data() as *mut CommunityName) };
    name.discriminator = CommunityName::DISCRIMINATOR;
    name.community = terms.community;
    name.name = terms.name;
    name.payer = *payer.address();
    name.sequence = state.community_sequence;
    name.held_until = held_until;
    name.bump = bump;

    let bump = create_payment(order)?;
    let payment = unsafe { &mut *(order.payment.data() as *mut CommunityPayment) };
    payment.discriminator = CommunityPayment::DISCRIMINATOR;
    payment.payer = *payer.address();
    payment.token = *order.token;
    payment.amount = terms.amount;
    payment.recipient = terms.recipient;
    payment.community = terms.community;
    payment.name = terms.name;
    payment.sequence = state.community_sequence;
    payment.held_until = held_until;
    payment.slot = clock.slot;
    payment.state = HELD;
    payment.bump = bump;
    Ok(())
}

#[inline(never)]
fn create_name(order: &Order) -> Result<u8> {
    let &Order { terms, payer, name: account, program, .. } = order;
    account.require_writable()?;
    let (expected, bump) =
        address::find(&[COMMUNITY_NAME_SEED, terms.community.bytes(), terms.name.bytes()], program)?;
    account.require_address(&expected)?;
    require(!account.is_owned_by(program), Error::NameTaken)?;
    let seeds = &[COMMUNITY_NAME_SEED, terms.community.bytes(), terms.name.bytes(), Bytes::of(&bump)];
    system::create(&NewAccount { payer, account, program, bytes: size_of::<CommunityName>(), seeds })?;
    Ok(bump)
}

#[inline(never)]
fn create_payment(order: &Order) -> Result<u8> {
    let &Order { terms, payer, payment: account, program, .. } = order;
    account.require_writable()?;
    let (community, name, paid_by) = (terms.community.bytes(), terms.name.bytes(), payer.address().bytes());
    let (expected, bump) = address::find(&[COMMUNITY_PAYMENT_SEED, community, name, paid_by], program)?;
    account.require_address(&expected)?;
    require(!account.is_owned_by(program), Error::PaymentOpen)?;
    let seeds = &[COMMUNITY_PAYMENT_SEED, community, name, paid_by, Bytes::of(&bump)];
    system::create(&NewAccount { payer, account, program, bytes: size_of::<CommunityPayment>(), seeds })?;
    Ok(bump)
}

#[inline(never)]
fn log(order: &Order) {
    let terms = order.terms;
    let payment = unsafe { &*(order.payment.data() as *const CommunityPayment) };
    emit(&CommunityPaid {
        discriminator: CommunityPaid::DISCRIMINATOR,
        sequence: payment.sequence,
        payer: payment.payer,
        token: payment.token,
        amount: payment.amount,
        recipient: payment.recipient,
        community: payment.community,
        name: payment.name,
        referral: terms.referral,
        held_until: payment.held_until,
    });
}
