use core::mem::size_of;

use crate::account::Account;
use crate::address::{self, Address, STATE_SEED, SYSTEM_PROGRAM, TREASURY_SEED, UPGRADEABLE_LOADER};
use crate::error::{require, Error, Result};
use crate::input::Input;
use crate::layout::{Discriminated, State, Treasury};
use crate::syscalls::Bytes;
use crate::system::{self, NewAccount};

/// Tag u32 3, slot u64, then the upgrade authority as borsh's Option.
const PROGRAM_DATA_TAG: u32 = 3;
const AUTHORITY_OFFSET: usize = 12;
const PROGRAM_DATA_HEADER_BYTES: u64 = 45;

const DEFAULT_HOLD_SECONDS: u64 = 60 * 60;
const MAX_HOLD_SECONDS: u64 = 7 * 24 * 60 * 60;

#[repr(C)]
struct Authorities {
    relay: Address,
    treasury: Address,
}

/// Accounts: payer (signer, writable; the upgrade authority), state (w), treasury (w), program data, system program.
#[inline(never)]
pub fn initialize(input: &Input) -> Result<()> {
    let authorities: &Authorities = input.fields()?;
    let &[payer, state_account, treasury, program_data, system_program] = input.accounts else {
        return Err(Error::WrongAccountCount);
    };
    payer.require_writable()?;
    require_upgrade_authority(payer, program_data, input.program)?;
    system_program.require_address(&SYSTEM_PROGRAM)?;
    let bump = create::<State>(payer, state_account, STATE_SEED, input.program)?;
    let treasury_bump = create::<Treasury>(payer, treasury, TREASURY_SEED, input.program)?;
    // The runtime has just filled both with zeros.
    let state = unsafe { &mut *(state_account.data() as *mut State) };
    state.discriminator = State::DISCRIMINATOR;
    state.relay_authority = authorities.relay;
    state.treasury_authority = authorities.treasury;
    state.hold_seconds = DEFAULT_HOLD_SECONDS;
    state.bump = bump;
    state.treasury_bump = treasury_bump;
    unsafe { *(treasury.data() as *mut u64) = Treasury::DISCRIMINATOR };
    Ok(())
}

/// Accounts: upgrade authority (signer), state (w), program data.
#[inline(never)]
pub fn set_authorities(input: &Input) -> Result<()> {
    let authorities: &Authorities = input.fields()?;
    let &[authority, state, program_data] = input.accounts else {
        return Err(Error::WrongAccountCount);
    };
    require_upgrade_authority(authority, program_data, input.program)?;
    let state = State::load(state, input.program)?;
    state.relay_authority = authorities.relay;
    state.treasury_authority = authorities.treasury;
    Ok(())
}

/// For payments to come; those that are held keep their time.
///
/// Accounts: upgrade authority (signer), state (w), program data.
#[inline(never)]
pub fn set_hold(input: &Input) -> Result<()> {
    let &hold_seconds: &u64 = input.fields()?;
    let &[authority, state, program_data] = input.accounts else {
        return Err(Error::WrongAccountCount);
    };
    require_upgrade_authority(authority, program_data, input.program)?;
    let state = State::load(state, input.program)?;
    require(hold_seconds <= MAX_HOLD_SECONDS, Error::HoldTooLong)?;
    state.hold_seconds = hold_seconds;
    Ok(())
}

/// Makes one of the two accounts that exist once, with room for a `T`. Gives its bump.
#[inline(never)]
fn create<T>(payer: Account, account: Account, seed: Bytes, program: &Address) -> Result<u8> {
    account.require_writable()?;
    let (expected, bump) = address::find(&[seed], program)?;
    account.require_address(&expected)?;
    require(!account.is_owned_by(program), Error::AlreadyInitialized)?;
    let seeds = &[seed, Bytes::of(&bump)];
    system::create(&NewAccount { payer, account, program, bytes: size_of::<T>(), seeds })?;
    Ok(bump)
}

/// Only who may replace the program may say whom it obeys: nobody can be quicker than the deployer.
#[inline(never)]
pub fn require_upgrade_authority(signer: Account, program_data: Account, program: &Address) -> Result<()> {
    signer.require_signer()?;
    let (expected, _) = address::find(&[program.bytes()], &UPGRADEABLE_LOADER)?;
    program_data.require_address(&expected)?;
    require(program_data.is_owned_by(&UPGRADEABLE_LOADER), Error::WrongOwner)?;
    require(program_data.data_len() >= PROGRAM_DATA_HEADER_BYTES, Error::InvalidAccountData)?;
    let data = program_data.data();
    let (tag, has_authority, authority) = unsafe {
        (
            *(data as *const u32),
            *data.add(AUTHORITY_OFFSET),
            (data.add(AUTHORITY_OFFSET + 1) as *const Address).read_unaligned(),
        )
    };
    require(tag == PROGRAM_DATA_TAG, Error::InvalidAccountData)?;
    require(has_authority == 1 && signer.address().is(&authority), Error::NotUpgradeAuthority)
}
