import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { formatEther, formatUnits, type Hex, parseEventLogs } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { hubAbi, spokeAbi } from '../../chains/evm/contracts/index.js'
import { readEnvironment } from '../../config/index.js'
import { SOLANA_LABEL } from '../../registry/primitives/network.js'
import type { World, WorldHub, WorldSolana, WorldSpoke } from '../../testing/index.js'
import { paint } from '../output.js'
import { joinCommunities } from './community.js'
import { apiOf, followStatus, say, send, showName, step } from './tools.js'

export interface DemoOptions {
  /** Default: a random one. A given name is registered once, on the hub unless a chain is given. */
  name?: string
  /** Network label of a chain of the world; default: the hub, then the first spoke and Solana. */
  chain?: string | undefined
  /** The same: what the option was called before. */
  network?: string
  /** Only names below communities, which come last by default. */
  communities?: boolean
  testnet?: boolean
}

interface Quote {
  gasToken: { symbol: string }
  transactionData: { to: Hex; data: Hex; value: string }
  registrationFee: string
  bridgeFee: string
}

/** A chain to register from, and its network's hub. */
interface DemoChain {
  isTestnet: boolean
  hub: WorldHub
  /** Hub or spoke. */
  chain: WorldHub | WorldSpoke
}

/** Polling interval of the measured latency. */
const LOOK_MS = 25
const SOL_DECIMALS = 9

/**
 * `clusterd demo`: registers names the way a wallet's frontend would (quote, sign, send, follow the status, look up,
 * read the feed): on the hub, over the bridge from a spoke, from Solana, and below a free and a paid community. The
 * world is that of CLUSTERD_HOME, or one started for the demo.
 * @throws where the network is not one of the world's, and for any failed step
 */
export async function demo(options: DemoOptions): Promise<void> {
  const { home, solanaRpcUrl } = readEnvironment()
  const { readWorld } = await import('../../testing/world.js')
  const world = readWorld(home)
  if (world && (await answers(world.ops))) return show(world, options)
  const { chooseChains } = await import('../../testing/chains/localChains.js')
  assertKnown(options.chain ?? options.network, [...chooseChains(undefined, undefined).map(labelOf), SOLANA_LABEL])
  const { startStack } = await import('../../testing/stack.js')
  say('No world runs here: starting one for this demo ...')
  const stack = await startStack({ home, ...(solanaRpcUrl !== undefined && { solanaRpcUrl }) })
  try {
    await show(stack.world, options)
  } finally {
    await stack.stop()
  }
}

const labelOf = ({ label }: { label: string }): string => label

/** @throws Error for a chain that is none of the world's */
function assertKnown(label: string | undefined, labels: readonly string[]): void {
  if (label !== undefined && !labels.includes(label))
    throw new Error(`Network "${label}" is not in this world; these are: ${labels.join(', ')}.`)
}

async function answers(ops: string): Promise<boolean> {
  try {
    return (await fetch(`${ops}/health`, { signal: AbortSignal.timeout(2_000) })).ok
  } catch {
    return false
  }
}

async function show(world: World, options: DemoOptions): Promise<void> {
  const { name, chain = options.network, testnet = false } = options
  if (!options.communities) await registerAll(world, { ...options, chain })
  if (name !== undefined || chain !== undefined) return
  const member = `member-${randomBytes(4).toString('hex')}`
  await joinCommunities(world, world.networks[testnet ? 'testnet' : 'mainnet'], { key: anyKey(world), member, testnet })
}

async function registerAll(world: World, { name, chain: from, testnet = false }: DemoOptions): Promise<void> {
  const known = demoChains(world)
  const { hub, spokes, solana } = world.networks[testnet ? 'testnet' : 'mainnet']
  const byDefault = [hub, ...spokes.slice(0, 1)].map((chain) => chain.network)
  const all = name === undefined ? [...byDefault, ...(solana ? [SOLANA_LABEL] : [])] : [hub.network]
  assertKnown(from, [...known.map(({ chain }) => chain.network), ...(solana ? [SOLANA_LABEL] : [])])
  for (const label of from === undefined ? all : [from]) {
    const wanted = name ?? `demo-${randomBytes(4).toString('hex')}`
    const place = known.find(({ chain }) => chain.network === label)
    if (place) await register(world, place, wanted)
    else if (solana) await registerFromSolana(world, solana, wanted, testnet)
  }
}

function demoChains(world: World): DemoChain[] {
  return Object.entries(world.networks).flatMap(([network, { hub, spokes }]) =>
    [hub, ...spokes].map((chain) => ({ isTestnet: network === 'testnet', hub, chain })),
  )
}

async function register(world: World, place: DemoChain, name: string): Promise<void> {
  const { chain, hub, isTestnet: testnet } = place
  const isSpoke = chain !== hub
  const account = privateKeyToAccount(anyKey(world))
  const ask = apiOf(world.api, testnet)

  say(
    `${paint('bold', name)} for ${account.address} on network "${chain.network}"${isSpoke ? ', over the bridge' : ''}`,
  )
  const quote = await ask<Quote>('POST', '/v1/names/register/evm', {
    network: chain.network,
    sender: account.address,
    names: [{ name }],
  })
  const { symbol } = quote.gasToken
  const bridge = isSpoke ? ` and bridge fee ${formatEther(BigInt(quote.bridgeFee))} ${symbol}` : ''
  step(
    'quote',
    `registration fee ${formatEther(BigInt(quote.registrationFee))} ${symbol}${bridge}, to ${quote.transactionData.to}`,
  )

  const hash = await send(chain, account, quote.transactionData)
  const sentMs = performance.now()
  step('sent', hash)
  const crossed = isSpoke ? timeCrossing(place, hash) : undefined
  crossed?.catch(() => {}) // awaited below, unless the status fails first
  await followStatus(world, hash, sentMs, testnet)
  await showName(world, name, account.address, testnet)
  if (crossed) {
    const { spokeBlock, hubBlock, ms } = await crossed
    step(
      'latency',
      `${(ms / 1_000).toFixed(2)} s from block ${spokeBlock} of the spoke to the bid in block ${hubBlock} of the hub`,
    )
  }
  say('')
}

const anyKey = (world: World): Hex => anyOf(world.accounts.evm, 'accounts').privateKey

function anyOf<T>(accounts: readonly T[], what: string): T {
  const account = accounts[randomBytes(1).readUInt8(0) % accounts.length]
  if (!account) throw new Error(`The world file names no ${what}: start the world again.`)
  return account
}

/** Measures from the spoke's block with the message to the hub's block with its bid. */
async function timeCrossing({ chain, hub }: DemoChain, hash: Hex) {
  const { localClients } = await import('../../testing/chains/localChain.js')
  const reader = localClients(hub, hub.chainId).reader
  const fromBlock = await reader.getBlockNumber()
  const receipt = await localClients(chain, chain.chainId).reader.waitForTransactionReceipt({
    hash,
    pollingInterval: LOOK_MS,
  })
  const seenMs = performance.now()
  const guid = parseEventLogs({ abi: spokeAbi, logs: receipt.logs, eventName: 'Sent' })[0]?.args.guid
  if (!guid) throw new Error(`Transaction ${hash} sent no message (status ${receipt.status}).`)
  for (;;) {
    const logs = await reader.getContractEvents({
      address: hub.contracts.hub,
      abi: hubAbi,
      eventName: 'Received',
      fromBlock,
    })
    const received = logs.find(({ args }) => args.guid === guid)
    if (received) {
      return { spokeBlock: receipt.blockNumber, hubBlock: received.blockNumber, ms: performance.now() - seenMs }
    }
    await sleep(LOOK_MS)
  }
}

/** Registers a name from a Solana wallet, paid in SOL and relayed to the hub, and prints its latency. */
async function registerFromSolana(world: World, solana: WorldSolana, name: string, testnet: boolean): Promise<void> {
  const { payQuote } = await import('../../testing/solana/payQuote.js')
  const account = anyOf(world.accounts.solana, 'accounts on Solana')
  const ask = apiOf(world.api, testnet)

  say(`${paint('bold', name)} for ${account.address} on network "solana", paid in SOL`)
  const quote = await ask<Omit<Quote, 'transactionData'> & { transactionData: string[] }>(
    'POST',
    '/v1/names/register/solana',
    {
      network: 'solana',
      sender: account.address,
      names: [{ name }],
    },
  )
  const [fee, bridge] = [quote.registrationFee, quote.bridgeFee].map((lamports) =>
    formatUnits(BigInt(lamports), SOL_DECIMALS),
  )
  step('quote', `registration fee ${fee} SOL and bridge fee ${bridge} SOL, to program ${solana.programId}`)

  const sentMs = performance.now()
  const signature = await payQuote(solana, account, quote.transactionData[0] ?? '')
  step('sent', signature)
  const ms = await followStatus(world, signature, sentMs, testnet)
  await showName(world, name, account.address, testnet)
  step('latency', `${(ms / 1_000).toFixed(2)} s from the payment to the name being final on the hub`)
  say('')
}
