//! Events, logged as Anchor's `emit_cpi!` does: by a call of the program itself, whose data stands among the
//! transaction's inner instructions. Log lines are cut after 10 KB, and anybody can write that many before; inner
//! instructions never are.
use crate::account::Account;
use crate::address::{self, Address, EVENT_SEED};
use crate::call::{call, Call};
use crate::error::{require, Error, Result};
use crate::input::Input;
use crate::layout::{Discriminated, State};
use crate::syscalls::{AccountMeta, Bytes};

/// Discriminator of the instruction that carries an event: the first 8 bytes of sha256("anchor:event"), the last first.
pub const EVENT: u64 = u64::from_le_bytes([228, 69, 165, 46, 81, 203, 154, 29]);

/// The program as its own log.
pub struct Log<'a> {
    program: &'a Address,
    authority: Account,
    bump: u8,
}

#[repr(C)]
struct Logged<T> {
    instruction: u64,
    event: T,
}

impl<'a> Log<'a> {
    /// Checks the two accounts that every instruction with events takes: event authority, program.
    #[inline(never)]
    pub fn open(state: &State, [authority, this]: [Account; 2], program: &'a Address) -> Result<Log<'a>> {
        let bump = state.event_bump;
        authority.require_address(&address::create(&[EVENT_SEED, Bytes::of(&bump)], program)?)?;
        this.require_address(program)?;
        Ok(Log { program, authority, bump })
    }

    /// Comes before lamports move, since a call finds them in balance only then.
    pub fn emit<T: Discriminated>(&self, event: T) {
        let logged = Logged { instruction: EVENT, event };
        self.write(Bytes::of(&logged))
    }

    #[inline(never)]
    fn write(&self, data: Bytes) {
        call(&Call {
            program: self.program,
            metas: &[AccountMeta { address: self.authority.address(), is_writable: false, is_signer: true }],
            infos: &[self.authority.info()],
            data,
            seeds: &[EVENT_SEED, Bytes::of(&self.bump)],
        })
    }
}

/// Takes an event of this program, and of nobody else.
///
/// Accounts: event authority (signer).
#[inline(never)]
pub fn receive(input: &Input) -> Result<()> {
    let &[authority] = input.accounts else {
        return Err(Error::WrongAccountCount);
    };
    authority.require_signer()?;
    let (expected, _) = address::find(&[EVENT_SEED], input.program)?;
    require(authority.address().is(&expected), Error::WrongAddress)
}
