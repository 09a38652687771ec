use core::mem::size_of;

use crate::account::Account;
use crate::address::{self, Address, EVENT_SEED, STATE_SEED, SYSTEM_PROGRAM, TREASURY_SEED, UPGRADEABLE_LOADER};
use crate::error::{require, Error, Result};
use crate::input::Input;
use crate::layout::{Discriminated, State, Treasury};
use crate::syscalls::Bytes;
use crate::system::{self, NewAccount};

/// Tag u32 3, slot u64, then the upgrade authority as borsh's Option.
const PROGRAM_DATA_TAG: u32 = 3;
const AUTHORITY_OFFSET: usize = 12;
const PROGRAM_DATA_HEADER_BYTES: u64 = 45;

const MIN_RECLAIM_SECONDS: u64 = 24 * 60 * 60;
const MAX_RECLAIM_SECONDS: u64 = 30 * MIN_RECLAIM_SECONDS;

/// What the treasury has of its rent beyond what it needs: the runtime lets no account fall below it, and a dearer rent
/// must not stop the last refunds.
const SPARE_RENTS: u64 = 9;

#[repr(C)]
struct Terms {
    admin: Address,
    relay: Address,
    treasury: Address,
    reclaim_seconds: u64,
}

/// Makes state and treasury. The time after which payers may take their money back is set once and for all.
///
/// Accounts: payer (signer, writable; the upgrade authority), state (w), treasury (w), program data, system program.
#[inline(never)]
pub fn initialize(input: &Input) -> Result<()> {
    let terms: &Terms = input.fields()?;
    let &[payer, state_account, treasury, program_data, system_program] = input.accounts else {
        return Err(Error::WrongAccountCount);
    };
    payer.require_writable()?;
    require_upgrade_authority(payer, program_data, input.program)?;
    system_program.require_address(&SYSTEM_PROGRAM)?;
    let is_in_range = (MIN_RECLAIM_SECONDS..=MAX_RECLAIM_SECONDS).contains(&terms.reclaim_seconds);
    require(is_in_range, Error::ReclaimOutOfRange)?;
    let bump = create::<State>(payer, state_account, STATE_SEED, input.program)?;
    let treasury_bump = create::<Treasury>(payer, treasury, TREASURY_SEED, input.program)?;
    system::transfer(payer, treasury, treasury.lamports().wrapping_mul(SPARE_RENTS));
    // The runtime has just filled both with zeros.
    let state = unsafe { &mut *(state_account.data() as *mut State) };
    state.discriminator = State::DISCRIMINATOR;
    state.admin_authority = terms.admin;
    state.relay_authority = terms.relay;
    state.treasury_authority = terms.treasury;
    state.reclaim_seconds = terms.reclaim_seconds;
    state.bump = bump;
    state.treasury_bump = treasury_bump;
    state.event_bump = address::find(&[EVENT_SEED], input.program)?.1;
    unsafe { *(treasury.data() as *mut u64) = Treasury::DISCRIMINATOR };
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
fn require_upgrade_authority(signer: Account, program_data: Account, program: &Address) -> Result<()> {
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
