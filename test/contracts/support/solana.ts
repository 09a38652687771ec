import { createHash } from 'node:crypto'
import {
  type AccountMeta,
  Keypair,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
} from '@solana/web3.js'
import { Clock, FailedTransactionMetadata, LiteSVM, Rent } from 'litesvm'
import {
  initializeRegistrarInstruction,
  programDataAddress,
  UPGRADEABLE_LOADER_PROGRAM,
} from '../../../src/chains/solana/admin.js'
import { readRegistrarCode } from '../../../src/chains/solana/deployment/loader.js'
import {
  createRegistrarClient,
  registrarCoder,
  registrarIdl,
} from '../../../src/chains/solana/registrar.js'

/**
 * The registrar in LiteSVM, Solana's runtime inside this process: without signatures (only flags), slots and variable
 * fees.
 */

type Address = Parameters<LiteSVM['getAccount']>[0]
type SvmTransaction = Parameters<LiteSVM['sendTransaction']>[0]
type SvmAccount = Parameters<LiteSVM['setAccount']>[0]

export const NOW = 1_800_000_000n
export const RICH_LAMPORTS = 10n ** 15n
export const RECLAIM_SECONDS = 604_800n

export interface Outcome {
  /** Name of the registrar's error, `runtime` for one of another program or the runtime; undefined: it went through. */
  error: string | undefined
  logs: string[]
  /** Data of the program's calls of itself. */
  inner: Buffer[]
}

export interface SolanaEvent {
  name: string
  /** Fields, numbers as text, addresses in base58, words in hex. */
  data: Record<string, string>
}

export type SolanaWorld = ReturnType<typeof createSolanaWorld>

const key = () => Keypair.generate().publicKey
/** The same in each world: deriving keys and program addresses takes longer than many tests. */
const keys = {
  deployer: key(),
  admin: key(),
  relay: key(),
  treasurer: key(),
  alice: key(),
  bob: key(),
  stranger: key(),
}
const feePayer = key()
const programId = key()
const registrar = createRegistrarClient(programId.toBase58())
const programData = programDataAddress(programId)

/** A fresh runtime with the program deployed by `deployer` and initialized for `relay` and `treasurer`. */
export function createSolanaWorld({ isInitialized = true } = {}) {
  const svm = new LiteSVM()
    .withSigverify(false)
    .withBlockhashCheck(false)
    .withTransactionHistory(0n)
  svm.setClock(new Clock(1n, NOW, 0n, 0n, NOW))
  svm.addProgram(addressOf(programId), readRegistrarCode())
  setUpgradeAuthority(svm, programData, keys.deployer)
  for (const one of [...Object.values(keys), feePayer]) setLamports(svm, one, RICH_LAMPORTS)

  /** Runs instructions as one transaction whose fee somebody else pays. */
  function send(...instructions: TransactionInstruction[]): Outcome {
    // `Transaction` sorts accounts by locale, which takes longer than the runtime
    const terms = { payerKey: feePayer, recentBlockhash: svm.latestBlockhash(), instructions }
    const message = new TransactionMessage(terms).compileToLegacyMessage()
    const messageBytes = message.serialize()
    const signers = message.accountKeys.slice(0, message.header.numRequiredSignatures)
    const signatures = Object.fromEntries(signers.map((signer) => [base58Of(signer), NO_SIGNATURE]))
    const result = svm.sendTransaction({ messageBytes, signatures } as object as SvmTransaction)
    if (result instanceof FailedTransactionMetadata)
      return {
        error: nameOfError(result.meta().logs()),
        logs: [...result.meta().logs(), String(result.err())],
        inner: [],
      }
    const inner = result.innerInstructions().flat()
    const own = inner.filter((one) =>
      message.accountKeys[one.instruction().programIdIndex()]?.equals(programId),
    )
    return {
      error: undefined,
      logs: result.logs(),
      inner: own.map((one) => Buffer.from(one.instruction().data())),
    }
  }

  function accountOf(
    address: PublicKey,
  ): { owner: string; lamports: bigint; data: Buffer } | undefined {
    const account = svm.getAccount(addressOf(address))
    if (!account.exists) return undefined
    return {
      owner: account.programAddress,
      lamports: account.lamports,
      data: Buffer.from(account.data),
    }
  }

  if (isInitialized) {
    const { error } = send(initializeRegistrarInstruction(registrar, keys.deployer, termsOf(keys)))
    if (error) throw new Error(`initializing the registrar: ${error}`)
  }
  return {
    svm,
    keys,
    programId,
    registrar,
    programData,
    send,
    accountOf,
    balanceOf: (address: PublicKey): bigint => svm.getBalance(addressOf(address)) ?? 0n,
    rentOf: (bytes: number): bigint => svm.minimumBalanceForRentExemption(BigInt(bytes)),
    /** Lamports that the treasury begins with. */
    reserve: 10n * svm.minimumBalanceForRentExemption(8n),
    addProgram: (address: PublicKey, code: Uint8Array) => svm.addProgram(addressOf(address), code),
    /** Deploys a program of somebody else's: the same code, its own upgrade authority. */
    addForeignProgram(authority: PublicKey) {
      const foreign = key()
      svm.addProgram(addressOf(foreign), readRegistrarCode())
      setUpgradeAuthority(svm, programDataAddress(foreign), authority)
      return { programId: foreign, programData: programDataAddress(foreign) }
    },
    /** Gives an account new lamports. */
    give: (address: PublicKey, lamports: bigint) => setLamports(svm, address, lamports),
    setAccount: (address: PublicKey, owner: PublicKey, lamports: bigint, data: Uint8Array) =>
      setAccount(svm, address, owner, lamports, data),
    stateOf: () => registrar.decodeState(accountOf(registrar.state)!.data),
    /** Sets the clock to a number of seconds after the beginning. */
    at: (seconds: bigint) => svm.setClock(new Clock(1n, NOW, 0n, 0n, NOW + seconds)),
    /** Sets the cluster's rent: lamports a byte, and a factor, 6,960 and 1 at first. */
    setRent: (lamportsPerByte: bigint, factor: number) =>
      svm.setRent(new Rent(lamportsPerByte, factor, 50)),
  }
}

/** Who `initialize` names. */
export const termsOf = ({
  admin,
  relay,
  treasurer,
}: Record<'admin' | 'relay' | 'treasurer', PublicKey>) => ({
  admin,
  relay,
  treasury: treasurer,
  reclaimSeconds: RECLAIM_SECONDS,
})

const NO_SIGNATURE = new Uint8Array(64)

/** Encoding takes longer than much of what it is for. */
const encoded = new WeakMap<PublicKey, string>()

/** A key in base58. */
export function base58Of(key: PublicKey): string {
  const known = encoded.get(key)
  if (known !== undefined) return known
  const text = key.toBase58()
  encoded.set(key, text)
  return text
}

const addressOf = (key: PublicKey): Address => base58Of(key) as Address

function setAccount(
  svm: LiteSVM,
  address: PublicKey,
  owner: PublicKey,
  lamports: bigint,
  data: Uint8Array,
): void {
  svm.setAccount({
    address: addressOf(address),
    programAddress: addressOf(owner),
    lamports: lamports as SvmAccount['lamports'],
    data,
    executable: false,
    space: BigInt(data.length),
  })
}

function setLamports(svm: LiteSVM, address: PublicKey, lamports: bigint): void {
  setAccount(svm, address, PublicKey.default, lamports, new Uint8Array())
}

/** LiteSVM deploys without an authority: this writes one where the loader keeps it. */
function setUpgradeAuthority(svm: LiteSVM, programData: PublicKey, authority: PublicKey): void {
  const account = svm.getAccount(addressOf(programData))
  if (!account.exists) throw new Error('setting the upgrade authority: the program is not deployed')
  const data = Buffer.from(account.data)
  data.writeUInt8(1, 12)
  authority.toBuffer().copy(data, 13)
  setAccount(svm, programData, UPGRADEABLE_LOADER_PROGRAM, account.lamports, data)
}

/** The error on the runtime's last line, by its name in the interface. */
function nameOfError(logs: string[]): string {
  const code = /custom program error: 0x([0-9a-f]+)$/.exec(logs.at(-1) ?? '')?.[1]
  const known = registrarIdl.errors?.find((error) => error.code === Number.parseInt(code ?? '', 16))
  return known?.name ?? 'runtime'
}

/** Events of a transaction, as Anchor decodes them. */
export const eventsOf = ({ inner }: Pick<Outcome, 'inner'>): SolanaEvent[] =>
  inner
    .filter((data) => data.subarray(0, EVENT_TAG.length).equals(EVENT_TAG))
    .map((data) => {
      const event = registrarCoder.events.decode(data.toString('base64', EVENT_TAG.length))
      const fields = Object.entries((event?.data ?? {}) as Record<string, unknown>)
      return {
        name: event?.name ?? 'none',
        data: Object.fromEntries(fields.map(([field, value]) => [field, textOf(value)])),
      }
    })

/** First 8 bytes of sha256("anchor:event"), the last first. */
export const EVENT_TAG = createHash('sha256')
  .update('anchor:event')
  .digest()
  .subarray(0, 8)
  .reverse()

const textOf = (value: unknown): string =>
  Array.isArray(value) ? Buffer.from(value).toString('hex') : String(value)

/** An instruction with some accounts or data replaced. */
export function changed(
  { keys, data, programId }: TransactionInstruction,
  change: { keys?: (keys: AccountMeta[]) => AccountMeta[]; data?: Buffer },
): TransactionInstruction {
  const copies = keys.map((meta) => ({ ...meta }))
  return new TransactionInstruction({
    programId,
    keys: change.keys?.(copies) ?? copies,
    data: change.data ?? data,
  })
}
