import { PublicKey, SYSVAR_CLOCK_PUBKEY, type TransactionInstruction } from '@solana/web3.js'
import { isForCommunityName, type StoredPayment } from '../../registry/payment/payment.js'
import { type OwedMoney, type OwedQuestion, orUnavailable, type RefundPort } from '../chain.js'
import { transient } from '../rpc/errors.js'
import type { Call } from '../rpc/nodes.js'
import type { SolanaRpc } from '../rpc/solana.js'
import { type CommunityPaymentAccount, createCommunityProgram } from './community/program.js'
import { unsignedTransaction } from './quote.js'
import { readLatestBlockhash, readOwnAccounts } from './reads.js'
import type { PaymentAccount, Registrar } from './registrar.js'
import { createAssociated } from './tokens.js'

/** Commitment that wallets show their users. */
const COMMITMENT = 'confirmed'
/** Place of the time in the clock's account: an i64 after slot, epoch start, epoch and leader epoch. */
const CLOCK_TIME_OFFSET = 32

/** Account of a payment that nobody was paid yet. */
type Open = PaymentAccount | CommunityPaymentAccount

/** Refunds on a Solana cluster. */
export const createRefundPort = (rpc: SolanaRpc, registrar: Registrar): RefundPort => ({
  owed: (question) =>
    orUnavailable(`chain "${rpc.label}"`, () => rpc.onOneNode((call) => owedByRegistrar(call, registrar, question))),
})

/**
 * Debts of the registrar to a payer: open payments that the payer can take now, each with its transaction, and those
 * that are held, with their time.
 */
async function owedByRegistrar(
  call: Call,
  registrar: Registrar,
  { payments }: Pick<OwedQuestion, 'payments'>,
): Promise<OwedMoney[]> {
  const program = createCommunityProgram(registrar)
  const addresses = payments.map((payment) => addressOf(registrar, program, payment))
  const [accounts, nowMs] = await Promise.all([
    readOwnAccounts(call, registrar, addresses, { commitment: COMMITMENT }),
    readClock(call),
  ])
  const open = payments.flatMap((payment, i): [StoredPayment, Open][] => {
    const account = accounts[i] && decode(registrar, program, payment, accounts[i])
    // a later payment may have the account of an earlier one
    return account && account.sequence === BigInt(payment.sequence) ? [[payment, account]] : []
  })
  const isAny = open.some(([, account]) => fromMsOf(account, nowMs) === null)
  const blockhash = isAny ? (await readLatestBlockhash(call, COMMITMENT)).blockhash : ''
  return open.flatMap(([payment, account]) => {
    if ('state' in account && account.state === 'released') return []
    const fromMs = fromMsOf(account, nowMs)
    const take = () => unsignedTransaction(account.payer, blockhash, ...takeOf(registrar, program, account))
    const transaction = fromMs === null ? ({ type: 'solana', base64: take() } as const) : null
    return [{ ...payment.money, payments: [payment], fromMs, transaction }]
  })
}

type Program = ReturnType<typeof createCommunityProgram>

function addressOf(registrar: Registrar, program: Program, { payer: stored, target }: StoredPayment): PublicKey {
  const payer = new PublicKey(stored.subarray(1))
  return target.kind === 'communityName'
    ? program.paymentAccount({ payer, number: target.number })
    : registrar.payment({ payer, quoteId: target.quoteId })
}

const decode = (registrar: Registrar, program: Program, payment: StoredPayment, data: Buffer): Open =>
  isForCommunityName(payment) ? program.decodePayment(data) : registrar.decodePayment(data)

/** Time from which on the payer can take a payment, null for now. */
function fromMsOf(account: Open, nowMs: number): number | null {
  if ('state' in account && account.state === 'refused') return null
  const fromMs = Number(account.reclaimableAt) * 1_000
  return fromMs <= nowMs ? null : fromMs
}

/** Instructions by which the payer takes a payment; its token account may be what was missing. */
function takeOf(registrar: Registrar, program: Program, account: Open): TransactionInstruction[] {
  if (!('state' in account)) return [registrar.reclaim(account)]
  const { payer, token } = account
  return [...(token ? [createAssociated(payer, payer, token)] : []), program.claim(payer, account)]
}

/** Time by which the program judges, ms. */
async function readClock(call: Call): Promise<number> {
  const options = { commitment: COMMITMENT, encoding: 'base64' }
  const asked = [SYSVAR_CLOCK_PUBKEY.toBase58(), options]
  const { value } = await call<{ value: { data: [string, 'base64'] } | null }>('getAccountInfo', asked)
  const data = Buffer.from(value?.data[0] ?? '', 'base64')
  if (data.length < CLOCK_TIME_OFFSET + 8) throw transient('getAccountInfo: the node shows no clock')
  return Number(data.readBigInt64LE(CLOCK_TIME_OFFSET)) * 1_000
}
