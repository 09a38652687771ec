use crate::address::{Address, SYSTEM_PROGRAM};
use crate::error::{require, Error, Result};
use crate::syscalls::AccountInfo;

/// An account as the loader serialises it: a view of the runtime's own bytes, which duplicates share.
///
/// signer u8 at 1, writable u8 at 2, executable u8 at 3, address at 8, owner at 40, lamports u64 at 72, data length u64
/// at 80, data from 88.
#[derive(Clone, Copy)]
pub struct Account(*mut u8);

impl Account {
    /// # Safety
    /// `start` has to point at an account's serialisation that is not a duplicate marker.
    pub unsafe fn at(start: *mut u8) -> Account {
        Account(start)
    }

    fn field<T>(self, offset: usize) -> *mut T {
        unsafe { self.0.add(offset) as *mut T }
    }

    pub fn is_signer(self) -> bool {
        unsafe { *self.field::<u8>(1) != 0 }
    }

    pub fn is_writable(self) -> bool {
        unsafe { *self.field::<u8>(2) != 0 }
    }

    pub fn address(self) -> &'static Address {
        unsafe { &*self.field(8) }
    }

    pub fn is_owned_by(self, program: &Address) -> bool {
        unsafe { *self.field::<Address>(40) }.is(program)
    }

    pub fn lamports(self) -> u64 {
        unsafe { *self.field(72) }
    }

    pub fn data_len(self) -> u64 {
        unsafe { *self.field(80) }
    }

    pub fn data(self) -> *mut u8 {
        self.field(88)
    }

    fn set_lamports(self, lamports: u64) {
        unsafe { *self.field(72) = lamports }
    }

    pub fn require_signer(self) -> Result<()> {
        require(self.is_signer(), Error::MissingSignature)
    }

    pub fn require_writable(self) -> Result<()> {
        require(self.is_writable(), Error::NotWritable)
    }

    pub fn require_address(self, expected: &Address) -> Result<()> {
        require(self.address().is(expected), Error::WrongAddress)
    }

    /// Moves lamports out of an account of ours.
    pub fn send(self, to: Account, lamports: u64) -> Result<()> {
        let rest = self.lamports().checked_sub(lamports).ok_or(Error::TreasuryShort)?;
        self.set_lamports(rest);
        to.set_lamports(to.lamports().checked_add(lamports).ok_or(Error::Overflow)?);
        Ok(())
    }

    /// Ends an account of ours: its lamports go to `to`, and it is left to the system program without data, so that
    /// lamports sent to it in the same transaction don't bring it back.
    pub fn close(self, to: Account) -> Result<()> {
        self.send(to, self.lamports())?;
        unsafe {
            *self.field::<u64>(88) = 0; // the discriminator
            *self.field::<u64>(80) = 0;
            *self.field::<Address>(40) = SYSTEM_PROGRAM;
        }
        Ok(())
    }

    /// The form in which a call of another program takes it.
    pub fn info(self) -> AccountInfo {
        AccountInfo {
            address: self.address(),
            lamports: self.field(72),
            data_len: self.data_len(),
            data: self.data(),
            owner: self.field(40),
            rent_epoch: u64::MAX,
            is_signer: self.is_signer(),
            is_writable: self.is_writable(),
            is_executable: unsafe { *self.field::<u8>(3) != 0 },
        }
    }
}
