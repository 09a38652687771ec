import { readHeads } from '../../chains/evm/chain.js'
import { type Item, RANK, type Side, type Step, stepsOf } from '../../chains/evm/deployment/item.js'
import { itemsOf } from '../../chains/evm/deployment/plan.js'
import { confirmed, deploymentBlock, type Mined, settled } from '../../chains/evm/deployment/send.js'
import { editChains } from '../../config/editChains.js'
import { printJson } from '../output.js'
import { carryOut } from '../signing/carryOut.js'
import { type SigningOptions, senderOf } from '../signing/options.js'
import type { NetworkOptions } from '../values.js'
import { type OpenNetwork, openNetwork, readSides } from './network.js'
import { printItems, printSteps, statusOf } from './print.js'

export interface ShowOptions extends NetworkOptions {
  json?: boolean
}

type SendOptions = NetworkOptions & SigningOptions

/** Time for which a command waits for the chain's own confirmation. */
const CONFIRMATION_MS = 30 * 60_000

/** `clusterd contracts plan`: what `deploy` and `configure` would send. @throws Error with one sentence */
export async function plan(options: ShowOptions): Promise<void> {
  const items = itemsOf(await readSides(openNetwork(options)))
  if (options.json)
    printJson(stepsOf(items).map((step) => ({ ...step, value: String(step.value), usualGas: undefined })))
  else printSteps(items)
}

/** `clusterd contracts status`: a line for each thing that is wished; code 1 where the chain shows another. */
export async function status(options: ShowOptions): Promise<void> {
  showStatus(itemsOf(await readSides(openNetwork(options))), options)
}

function showStatus(items: readonly Item[], { json }: ShowOptions): void {
  if (json) printJson(items.map(statusOf))
  else printItems(items)
  if (items.some(({ isRight }) => !isRight)) process.exitCode = 1
}

/** `clusterd contracts deploy`: deploys what is not there, and writes addresses and blocks into the chains file. */
export async function deploy(options: SendOptions): Promise<void> {
  const isWritten = await bring(openNetwork(options), options, (rank) => rank === RANK.deploy)
  if (!isWritten) return
  const items = itemsOf(await readSides(openNetwork(options)))
  printItems(items)
  if (stepsOf(items).length > 0) console.log('\nNext: `clusterd contracts configure`, signed by the owner.')
}

/** `clusterd contracts configure`: everything else, the peers last; with what is not deployed yet before it. */
export async function configure(options: SendOptions): Promise<void> {
  const isWritten = await bring(openNetwork(options), options, () => true)
  if (isWritten) showStatus(itemsOf(await readSides(openNetwork(options))), {})
}

/**
 * Carries out the steps of the given ranks. @returns whether the chains file has all addresses now
 * @throws Error with one sentence where something can't be brought about by a transaction
 */
async function bring(open: OpenNetwork, options: SendOptions, ranks: (rank: number) => boolean): Promise<boolean> {
  const account = senderOf(options)
  // what an earlier run has sent and not seen mined would be planned again
  if (account) await Promise.all([...open.chains.values()].map((chain) => settled(chain, account.address)))
  const sides = await readSides(open)
  const items = itemsOf(sides)
  const stuck = items.find(({ rank, isRight, step }) => rank === RANK.deploy && !isRight && !step)
  if (stuck) throw new Error(`Chain "${stuck.chain}", ${stuck.about}: ${stuck.found}. ${stuck.advice ?? ''}`.trim())
  const steps = stepsOf(items, ranks)
  if (steps.length === 0) console.log('Nothing to send.')
  const { mined, isSent } = await carryOut(steps, { ...open, account, before: () => noteHeads(open, steps) }, options)
  if (!isSent) return false
  await waitForConfirmation(open, steps, mined)
  await writeAddresses(open, sides, mined)
  return true
}

/** Notes each chain's head before anything is sent: no contract of ours is older, however the run ends. */
async function noteHeads({ file, configs, chains }: OpenNetwork, steps: readonly Step[]): Promise<void> {
  const heads: Record<string, { startBlock: number }> = {}
  for (const label of new Set(steps.map(({ chain }) => chain))) {
    const { contract, startBlock } = configs.get(label)!
    if (contract || startBlock > 0) continue
    heads[label] = { startBlock: Number(await chains.get(label)!.rpc.call('eth_blockNumber', [])) }
  }
  editChains(file, { chains: heads })
}

async function waitForConfirmation(
  { chains, configs }: OpenNetwork,
  steps: readonly Step[],
  mined: ReadonlyMap<string, Mined>,
): Promise<void> {
  const last = new Map<string, number>()
  for (const { id, chain } of steps) last.set(chain, Math.max(last.get(chain) ?? 0, mined.get(id)?.block ?? 0))
  for (const [label, block] of last) {
    const [chain, config] = [chains.get(label)!, configs.get(label)!]
    const heads = () => chain.rpc.onOneNode((ask) => readHeads(ask, config)).then((found) => found.confirmed)
    if ((await heads()) < block) console.log(`Waiting until chain ${label} has confirmed block ${block}.`)
    if (!(await confirmed(heads, block, CONFIRMATION_MS)))
      console.log(`Chain ${label} has not confirmed block ${block} yet: run \`clusterd contracts status\` later.`)
  }
}

/** Writes the addresses of contracts that stand, and the blocks of their deployment, where the file lacks them. */
async function writeAddresses(
  { file, configs, chains }: OpenNetwork,
  sides: readonly Side[],
  mined: ReadonlyMap<string, Mined>,
): Promise<void> {
  const edits: Record<string, Record<string, unknown>> = {}
  for (const { wishes, state } of sides) {
    const { label, role, contract, communityPayments } = wishes
    const edit: Record<string, unknown> = {}
    if (!contract) {
      edit.contract = state.app.address
      const sent = mined.get(`${label}.${role}.deploy`)?.block
      const since = configs.get(label)!.startBlock
      edit.startBlock = sent ?? (await deploymentBlock(chains.get(label)!, state.app.address, since))
    }
    if (state.payments && !communityPayments) edit.communityPayments = state.payments.address
    if (Object.keys(edit).length > 0) edits[label] = edit
  }
  if (Object.keys(edits).length === 0) return
  editChains(file, { chains: edits })
  console.log(`Wrote the addresses of ${Object.keys(edits).join(', ')} into ${file}.`)
}
