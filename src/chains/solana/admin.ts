import { PublicKey, type TransactionInstruction } from '@solana/web3.js'
import { big, type Registrar } from './registrar.js'

/** Owner of upgradeable programs. */
export const UPGRADEABLE_LOADER = new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111')

/** Account that holds a program's code and upgrade authority. */
export const programDataAddress = (programId: PublicKey): PublicKey =>
  PublicKey.findProgramAddressSync([programId.toBuffer()], UPGRADEABLE_LOADER)[0]

/** Authorities of a registrar, and the time after which payers may take undecided payments back. */
export interface InitialTerms {
  admin: PublicKey
  relay: PublicKey
  treasury: PublicKey
  /** 1 to 30 days, for ever. */
  reclaimSeconds: bigint
}

/** Signed and paid by the program's upgrade authority. */
export function initialize(registrar: Registrar, upgradeAuthority: PublicKey, terms: InitialTerms) {
  const args = {
    ...authoritiesOf(terms),
    admin_authority: terms.admin,
    reclaim_seconds: big(terms.reclaimSeconds),
  }
  const programData = programDataAddress(registrar.programId)
  return registrar.instruction('initialize', args, {
    payer: upgradeAuthority,
    program_data: programData,
  })
}

type Authorities = Pick<InitialTerms, 'relay' | 'treasury'>

const authoritiesOf = ({ relay, treasury }: Authorities) => ({
  relay_authority: relay,
  treasury_authority: treasury,
})

/** Signed by the admin authority. */
export const setAuthorities = (
  registrar: Registrar,
  admin: PublicKey,
  named: Authorities,
): TransactionInstruction =>
  registrar.instruction('set_authorities', authoritiesOf(named), { admin_authority: admin })

/** The proposed one accepts by `acceptAdmin`. Signed by the present one. */
export const proposeAdmin = (
  registrar: Registrar,
  admin: PublicKey,
  proposed: PublicKey,
): TransactionInstruction =>
  registrar.instruction('propose_admin', { admin_authority: proposed }, { admin_authority: admin })

/** Signed by the proposed authority. */
export const acceptAdmin = (registrar: Registrar, proposed: PublicKey): TransactionInstruction =>
  registrar.instruction('accept_admin', {}, { proposed_admin: proposed })

/** Takes settled lamports out of the treasury. Signed by the treasury authority. */
export const withdraw = (
  registrar: Registrar,
  treasuryAuthority: PublicKey,
  destination: PublicKey,
  lamports: bigint,
): TransactionInstruction =>
  registrar.instruction(
    'withdraw',
    { lamports: big(lamports) },
    { treasury_authority: treasuryAuthority, destination },
  )
