//! The SPL Token program: its accounts as far as they are read here, and calls of it. Token-2022 is not taken: its
//! mints may have transfer fees, hooks and delegates that can take what is held.
use core::mem::size_of;

use crate::account::Account;
use crate::address::{self, Address, ASSOCIATED_TOKEN_PROGRAM, TOKEN_PROGRAM, VAULT_SEED};
use crate::call::{call, Call};
use crate::error::{require, Error, Result};
use crate::syscalls::{AccountMeta, Bytes};
use crate::system::{self, NewAccount};

const TRANSFER_CHECKED: u8 = 12;
const INITIALIZE_ACCOUNT_3: u8 = 18;
const INITIALIZED: u8 = 1;
/// The same for a token account that its mint's freeze authority has frozen.
const FROZEN: u8 = 2;

/// The part of a mint's 82 bytes that is read.
#[repr(C)]
struct Mint {
    authority: [u8; 36],
    supply: [u8; 8],
    decimals: u8,
    is_initialized: u8,
    freeze_authority: [u8; 36],
}

/// The part of a token account's 165 bytes that is read.
#[repr(C)]
struct TokenAccount {
    mint: Address,
    owner: Address,
    amount: u64,
    delegate: [u8; 36],
    state: u8,
}

const MINT_BYTES: usize = 82;
const TOKEN_ACCOUNT_BYTES: usize = 165;
const _: () = assert!(size_of::<Mint>() == MINT_BYTES);

#[repr(C, packed)]
struct TransferChecked {
    tag: u8,
    amount: u64,
    decimals: u8,
}

#[repr(C, packed)]
struct InitializeAccount3 {
    tag: u8,
    owner: Address,
}

/// A transfer of tokens of a mint.
pub struct Transfer<'a> {
    pub from: Account,
    pub mint: Account,
    pub to: Account,
    /// Owns `from`.
    pub authority: Account,
    pub amount: u64,
    /// Seeds of the authority where it is an address of ours; empty: it signed.
    pub seeds: &'a [Bytes],
}

/// The decimals of a mint of the SPL Token program.
#[inline(never)]
pub fn decimals_of(mint: Account) -> Result<u8> {
    let is_mint = mint.is_owned_by(&TOKEN_PROGRAM) && mint.data_len() == MINT_BYTES as u64;
    require(is_mint, Error::UnsupportedToken)?;
    let mint = unsafe { &*(mint.data() as *const Mint) };
    require(mint.is_initialized == 1, Error::UnsupportedToken)?;
    Ok(mint.decimals)
}

/// Checks that an account holds tokens of this mint for this owner.
#[inline(never)]
pub fn require_token_account(account: Account, mint: Account, owner: &Address) -> Result<()> {
    account.require_writable()?;
    let token_account = read(account).ok_or(Error::NotATokenAccount)?;
    require(token_account.mint.is(mint.address()), Error::WrongTokenMint)?;
    require(token_account.owner.is(owner), Error::WrongTokenOwner)
}

/// Whether an account holds tokens of this mint for this owner and may be paid into.
#[inline(never)]
pub fn is_open(account: Account, mint: Account, owner: &Address) -> bool {
    let is_theirs = |one: &TokenAccount| one.mint.is(mint.address()) && one.owner.is(owner) && one.state == INITIALIZED;
    read(account).is_some_and(is_theirs)
}

fn read(account: Account) -> Option<&'static TokenAccount> {
    let has_size = account.is_owned_by(&TOKEN_PROGRAM) && account.data_len() == TOKEN_ACCOUNT_BYTES as u64;
    let token_account = unsafe { has_size.then(|| &*(account.data() as *const TokenAccount))? };
    (token_account.state == INITIALIZED || token_account.state == FROZEN).then_some(token_account)
}

/// Checks that an account is where wallets look for their tokens of a mint.
#[inline(never)]
pub fn require_associated(account: Account, mint: Account, owner: &Address) -> Result<()> {
    account.require_writable()?;
    let seeds = [owner.bytes(), TOKEN_PROGRAM.bytes(), mint.address().bytes()];
    let (expected, _) = address::find(&seeds, &ASSOCIATED_TOKEN_PROGRAM)?;
    require(account.address().is(&expected), Error::NotAssociatedAccount)
}

/// Checks that an account is the vault of a mint, the token account that owns itself at seeds "vault", mint. Gives its
/// bump.
#[inline(never)]
pub fn require_vault(vault: Account, mint: Account, program: &Address) -> Result<u8> {
    vault.require_writable()?;
    let (expected, bump) = address::find(&[VAULT_SEED, mint.address().bytes()], program)?;
    vault.require_address(&expected)?;
    Ok(bump)
}

/// Makes the vault of a mint where there is none yet, rent paid by `payer`.
#[inline(never)]
pub fn ensure_vault(payer: Account, vault: Account, mint: Account, program: &Address) -> Result<()> {
    let bump = require_vault(vault, mint, program)?;
    if vault.is_owned_by(&TOKEN_PROGRAM) {
        return Ok(());
    }
    let seeds = &[VAULT_SEED, mint.address().bytes(), Bytes::of(&bump)];
    system::create(&NewAccount { payer, account: vault, program: &TOKEN_PROGRAM, bytes: TOKEN_ACCOUNT_BYTES, seeds })?;
    call(&Call {
        program: &TOKEN_PROGRAM,
        metas: &[
            AccountMeta { address: vault.address(), is_writable: true, is_signer: false },
            AccountMeta { address: mint.address(), is_writable: false, is_signer: false },
        ],
        infos: &[vault.info(), mint.info()],
        data: Bytes::of(&InitializeAccount3 { tag: INITIALIZE_ACCOUNT_3, owner: *vault.address() }),
        seeds: &[],
    });
    Ok(())
}

/// Moves tokens; the token program checks the decimals once more.
#[inline(never)]
pub fn transfer(transfer: &Transfer) -> Result<()> {
    let &Transfer { from, mint, to, authority, amount, seeds } = transfer;
    let decimals = decimals_of(mint)?;
    call(&Call {
        program: &TOKEN_PROGRAM,
        metas: &[
            AccountMeta { address: from.address(), is_writable: true, is_signer: false },
            AccountMeta { address: mint.address(), is_writable: false, is_signer: false },
            AccountMeta { address: to.address(), is_writable: true, is_signer: false },
            AccountMeta { address: authority.address(), is_writable: false, is_signer: true },
        ],
        infos: &[from.info(), mint.info(), to.info(), authority.info()],
        data: Bytes::of(&TransferChecked { tag: TRANSFER_CHECKED, amount, decimals }),
        seeds,
    });
    Ok(())
}

/// A payment out of a mint's vault.
pub struct Payout {
    pub mint: Account,
    pub vault: Account,
    /// Of the vault's address.
    pub bump: u8,
    pub destination: Account,
    pub amount: u64,
}

#[inline(never)]
pub fn pay_out(payout: &Payout) -> Result<()> {
    let &Payout { mint, vault, ref bump, destination, amount } = payout;
    let seeds = &[VAULT_SEED, mint.address().bytes(), Bytes::of(bump)];
    transfer(&Transfer { from: vault, mint, to: destination, authority: vault, amount, seeds })
}
