import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Hex } from 'viem'
import type { LocalAccount } from 'viem/accounts'
import type { Step } from '../../chains/evm/deployment/item.js'
import { currentFees, type Mined, type SendingChain, sendCall } from '../../chains/evm/deployment/send.js'
import { maxCostWei } from '../../chains/evm/fees.js'
import { orIfRefused } from '../../chains/rpc/errors.js'
import { paint } from '../output.js'
import { confirm } from './confirm.js'
import { accountOf, formOf, type SigningOptions, type UnsignedForm } from './options.js'
import { safeBatch } from './safeBatch.js'

/** What became of steps: which were mined, by their ids, and whether nothing was sent at all. */
export interface CarriedOut {
  mined: ReadonlyMap<string, Mined>
  isSent: boolean
}

const NOTHING: CarriedOut = { mined: new Map(), isSent: false }
const ETHER = 1e18

type Chains = ReadonlyMap<string, SendingChain>

interface Way {
  chains: Chains
  /** Who signs, where that is known already. */
  account?: LocalAccount | null
  owners: ReadonlyMap<string, Hex>
  before?: () => Promise<void>
}

/**
 * Sends steps one by one, in their order; or prints them, or writes them unsigned, as the options say.
 * @param way `owners` would sign on their chains what anybody may, where nobody signs here; `before` runs before the
 *   first is sent or written
 * @throws Error with one sentence: a key is missing or not the one that a step needs; SendError
 */
export async function carryOut(
  steps: readonly Step[],
  { chains, owners, before = async () => {}, ...way }: Way,
  options: SigningOptions,
): Promise<CarriedOut> {
  if (steps.length === 0) return { ...NOTHING, isSent: !options.dryRun }
  const form = formOf(options)
  const signerOf = ({ by, chain }: Step) => by ?? owners.get(chain)!
  if (form) {
    // a folder that can't be made is said before anything is edited
    if (form === 'safe') mkdirSync(options.out ?? '.', { recursive: true })
    await before()
    writeUnsigned(form, { steps, chains, signerOf }, options)
    return NOTHING
  }
  const account = way.account ?? accountOf(options)
  if (options.dryRun) {
    for (const step of steps) await printDry(step, chains.get(step.chain)!, account?.address ?? signerOf(step))
    return NOTHING
  }
  if (!account)
    throw new Error(
      `${countOf(steps.length)} to send, and no key: say --keystore or --signer-url, or --unsigned safe for a Safe.`,
    )
  const foreign = steps.find(({ by }) => by !== null && by !== account.address.toLowerCase())
  if (foreign)
    throw new Error(
      `${foreign.by} has to sign what ${foreign.does} on chain "${foreign.chain}", not ${account.address}: use its key, or --unsigned safe.`,
    )
  for (const step of steps) console.log(lineOf(step))
  await confirm(`Send ${countOf(steps.length)} from ${account.address}?`, options)
  await before()
  return { mined: await send(steps, chains, account), isSent: true }
}

const countOf = (count: number): string => (count === 1 ? 'one transaction' : `${count} transactions`)

const lineOf = ({ chain, does }: Step): string => `${paint('dim', `chain ${chain}:`)} ${does}`

async function send(steps: readonly Step[], chains: Chains, account: LocalAccount): Promise<Map<string, Mined>> {
  const mined = new Map<string, Mined>()
  for (const step of steps) {
    const done = await sendCall(chains.get(step.chain)!, account, step)
    mined.set(step.id, done)
    console.log(`${paint('green', 'sent')}  ${lineOf(step)}, block ${done.block}, ${done.hash}`)
  }
  return mined
}

async function printDry(step: Step, chain: SendingChain, from: Hex): Promise<void> {
  const { to, data, value, usualGas } = step
  const code = await chain.rpc.call<Hex>('eth_getCode', [to, 'latest'])
  const asked = chain.rpc.call<Hex>('eth_estimateGas', [{ from, to, data, value: `0x${value.toString(16)}` }])
  // what relies on a step before it can't be simulated yet
  const estimated = code === '0x' ? null : await orIfRefused(asked, null)
  const gas = estimated === null ? usualGas : BigInt(estimated)
  const fees = await currentFees(chain)
  const cost = Number(maxCostWei(gas, fees, value)) / ETHER
  console.log(`${lineOf(step)}
  from   ${from}
  to     ${to}
  value  ${value}
  gas    ${estimated === null ? `about ${gas}` : gas}, at most ${cost.toPrecision(3)} of the chain's coin
  data   ${data}`)
}

function writeUnsigned(
  form: UnsignedForm,
  { steps, chains, signerOf }: { steps: readonly Step[]; chains: Chains; signerOf(step: Step): Hex },
  { out = '.' }: SigningOptions,
): void {
  if (form === 'raw') {
    for (const step of steps) {
      const { chain, to, data, value, does } = step
      const { chainId } = chains.get(chain)!
      console.log(JSON.stringify({ chain, chainId, from: signerOf(step), to, value: String(value), data, does }))
    }
    return
  }
  const batches = new Map<string, Step[]>()
  for (const step of steps) {
    const name = `safe-${step.chain}-${signerOf(step)}.json`
    batches.set(name, [...(batches.get(name) ?? []), step])
  }
  for (const [name, batch] of batches) {
    const file = join(out, name)
    const { chain } = batch[0]!
    const json = safeBatch(chains.get(chain)!.chainId, signerOf(batch[0]!), batch, Date.now())
    writeFileSync(file, `${JSON.stringify(json, null, 2)}\n`)
    for (const step of batch) console.log(lineOf(step))
    console.log(`${file}: ${countOf(batch.length)} for ${signerOf(batch[0]!)}`)
  }
  console.log('Nothing was sent: import each file into that Safe (Transaction Builder), in the order above.')
}
