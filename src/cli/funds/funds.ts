import { encodeFunctionData } from 'viem'
import { createChainRpc } from '../../chains/evm/chain.js'
import { hubAbi } from '../../chains/evm/contracts/index.js'
import { readFunds } from '../../chains/evm/funds.js'
import { type ChainConfig, ConfigError, type DraftChain, readDraft, readEnvironment } from '../../config/index.js'
import { sentenceOf } from '../../ops/log/errors.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { NETWORKS, type Network } from '../../registry/primitives/network.js'
import { databaseFault, withPoolAt } from '../database.js'
import { printJson } from '../output.js'
import { carryOut } from '../signing/carryOut.js'
import type { SigningOptions } from '../signing/options.js'
import { addressOf, type NetworkOptions, networksOf } from '../values.js'
import { chainLines, type ShownChain, solanaLines } from './print.js'
import { type KnownSpending, NO_SPENDING, readSpending } from './spending.js'

/** Time after which a database that says nothing is left out. */
const SILENCE_MS = 10_000

/** `clusterd funds`: one chain that does not answer is a line, and hides no other. */
export async function show({ json, ...networks }: NetworkOptions & { json?: boolean }): Promise<void> {
  const { chainsFile } = readEnvironment()
  const draft = readDraft(chainsFile)
  const shown: unknown[] = []
  for (const network of networksOf(networks)) {
    const spending = await spendingOf(network)
    const chains = draft.chains.filter((chain): chain is ChainConfig => chain.network === network && isOurs(chain))
    const found = await Promise.all(chains.map((chain) => orProblem(chain.label, () => fundsOf(chain, spending))))
    const cluster = draft.solana[network]
    const programId = cluster?.programId
    const solana =
      cluster && programId
        ? await orProblem('solana', async () => (await import('./solana.js')).solanaFunds({ ...cluster, programId }))
        : null
    if (json) shown.push({ network, chains: found, ...(solana && { solana }) })
    else for (const line of [...found.flatMap(linesOf), ...(solana ? linesOf(solana) : [])]) console.log(line)
  }
  if (json) printJson(shown.map(plain))
}

const isOurs = ({ contract, watchOnly }: DraftChain): boolean => contract !== undefined && !watchOnly

type Problem = { chain: string; problem: string }

const orProblem = <T>(chain: string, read: () => Promise<T>): Promise<T | Problem> =>
  read().catch((error: Error) => ({ chain, problem: sentenceOf(error) }))

type Shown = ShownChain | Awaited<ReturnType<typeof import('./solana.js').solanaFunds>> | Problem

function linesOf(shown: Shown): string[] {
  if ('problem' in shown) return [`chain ${shown.chain}: ${shown.problem}`]
  return 'hub' in shown ? chainLines(shown) : solanaLines(shown)
}

/** Amounts as decimal strings. */
const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, field) => (typeof field === 'bigint' ? String(field) : field)))

/** What the database knows; without one, the chains alone are shown. */
async function spendingOf(network: Network): Promise<KnownSpending> {
  const { databaseDirectUrl: url } = readEnvironment()
  if (!url) return NO_SPENDING
  return withPoolAt(url, { command: 'funds', max: 1, silenceLimitMs: SILENCE_MS }, (pool) =>
    readSpending(pool, network),
  ).catch((error: unknown) => {
    console.error(`Nothing is known of spending: ${databaseFault(error, url) ?? `${sentenceOf(error)}.`}`)
    return NO_SPENDING
  })
}

async function fundsOf(chain: ChainConfig, { tokens, spentLastDayWei }: KnownSpending): Promise<ShownChain> {
  const { label, role, contract, communityPayments, gasToken } = chain
  const question = { role, contract, communityPayments: communityPayments ?? null, tokens: tokens.get(label) ?? [] }
  const funds = await createChainRpc(chain).onOneNode((ask) => readFunds(ask, question))
  const spent = spentLastDayWei.get(label) ?? 0n
  const daysLeft = funds.relayers.map(({ address, balanceWei }) => [
    address,
    spent === 0n ? null : Number(balanceWei) / Number(spent),
  ])
  return { chain: label, symbol: gasToken.symbol, ...funds, daysLeft: Object.fromEntries(daysLeft) }
}

/** `clusterd funds withdraw`. @throws Error with one sentence */
export async function withdraw(options: SigningOptions & { chain: string; to: string }): Promise<void> {
  if (options.chain === 'solana')
    throw new Error('On Solana the treasury authority withdraws: `clusterd solana withdraw <lamports> --to <key>`.')
  const { chainsFile } = readEnvironment()
  const config = readDraft(chainsFile).chains.find(({ label }) => label === options.chain)
  if (!config?.contract || config.role !== 'hub') {
    const hubs = NETWORKS.flatMap((network) => hubLabels(chainsFile, network)).join(', ')
    throw new ConfigError(`Chain "${options.chain}" has no hub of ours; hubs: ${hubs || 'none'}.`)
  }
  const { label, contract, chainId } = config
  const to = toHex(addressOf('--to', options.to))
  const rpc = createChainRpc(config)
  const { hub } = await rpc.onOneNode((ask) =>
    readFunds(ask, { role: 'hub', contract, communityPayments: null, tokens: [] }),
  )
  if (hub!.keptWei === 0n) throw new Error(`The hub on chain "${label}" keeps nothing.`)
  const step = {
    ...{ id: 'withdraw', chain: label, by: hub!.owner, to: contract, value: 0n, usualGas: 60_000n },
    data: encodeFunctionData({ abi: hubAbi, functionName: 'withdrawKept', args: [to] }),
    does: `pays ${hub!.keptWei} wei that the hub keeps to ${to}`,
  }
  const way = { chains: new Map([[label, { label, chainId, rpc }]]), owners: new Map([[label, hub!.owner]]) }
  await carryOut([step], way, options)
}

const hubLabels = (file: string, network: Network): string[] =>
  readDraft(file).chains.flatMap((chain) => (chain.network === network && chain.role === 'hub' ? [chain.label] : []))
