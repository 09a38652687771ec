import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Hex, parseEventLogs } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { hubAbi, spokeAbi } from '../chains/evm/contracts/index.js'
import { readEnvironment } from '../config.js'
import type { World, WorldHub, WorldSpoke } from '../testing/index.js'
import { paint } from './paint.js'

export interface DemoOptions {
  /** Default a fresh one. With a name the demo registers once, on the hub unless a network is given. */
  name?: string
  /** Network label of a chain of the world; default the hub, then the first spoke. */
  network?: string
  testnet?: boolean
}

interface Quote {
  gasToken: { symbol: string }
  transactionData: { to: Hex; data: Hex; value: string }
  registrationFee: string
  bridgeFee: string
}

/** A chain of the world to register from, and the hub its network decides on. */
interface Place {
  isTestnet: boolean
  hub: WorldHub
  /** The hub itself or a spoke. */
  chain: WorldHub | WorldSpoke
}

/** How often the chains are looked at for the latency that is printed. */
const LOOK_MS = 25

/**
 * `clusterd demo`: does the service's main job the way a wallet's frontend would: quote, sign, send, follow the status,
 * look the name up both ways, read the feed; on the hub, and over the bridge from a spoke. Against the world of
 * CLUSTERD_HOME, or one that it starts for itself.
 * @throws when the network is not one of the world's, and whatever goes wrong on the way
 */
export async function demo(options: DemoOptions): Promise<void> {
  const { home } = readEnvironment()
  const { readWorld } = await import('../testing/world.js')
  const world = readWorld(home)
  if (world && (await answers(world.ops))) return show(world, options)
  say('No world runs here: starting one for this demo ...')
  const { startStack } = await import('../testing/stack.js')
  const stack = await startStack({ home })
  try {
    await show(stack.world, options)
  } finally {
    await stack.stop()
  }
}

async function answers(ops: string): Promise<boolean> {
  try {
    return (await fetch(`${ops}/health`, { signal: AbortSignal.timeout(2_000) })).ok
  } catch {
    return false
  }
}

async function show(world: World, { name, network, testnet = false }: DemoOptions): Promise<void> {
  const places = placesOf(world)
  const { hub, spokes } = world.networks[testnet ? 'testnet' : 'mainnet']
  const byDefault = name === undefined ? [hub, ...spokes.slice(0, 1)] : [hub]
  for (const label of network === undefined ? byDefault.map((chain) => chain.network) : [network]) {
    const place = places.find(({ chain }) => chain.network === label)
    if (!place) {
      const known = places.map(({ chain }) => chain.network).join(', ')
      throw new Error(`Network "${label}" is not in this world; these are: ${known}.`)
    }
    await register(world, place, name ?? `demo-${randomBytes(4).toString('hex')}`)
  }
}

function placesOf(world: World): Place[] {
  return Object.entries(world.networks).flatMap(([network, { hub, spokes }]) =>
    [hub, ...spokes].map((chain) => ({ isTestnet: network === 'testnet', hub, chain })),
  )
}

async function register(world: World, place: Place, name: string): Promise<void> {
  const { until } = await import('../testing/until.js')
  const { chain, hub, isTestnet: testnet } = place
  const isSpoke = chain !== hub
  const account = anyAccount(world)
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
  const bridge = isSpoke ? ` and bridge fee ${ether(quote.bridgeFee)} ${symbol}` : ''
  step('quote', `registration fee ${ether(quote.registrationFee)} ${symbol}${bridge}, to ${quote.transactionData.to}`)

  const sent = await send(place, account, quote)
  step('sent', sent.hash)
  const since = () => `${((performance.now() - sent.atMs) / 1_000).toFixed(2)} s`
  const crossed = isSpoke ? timeCrossing(place, sent.hash) : undefined
  crossed?.catch(() => {}) // awaited below, unless the status tells first what is wrong
  await until.status(world, sent.hash, 'finalized', {
    testnet,
    onChange: ({ status, step: why }) =>
      step(status, `${since()}${why ? ` (${why})` : ''}`, status === 'finalized' ? 'green' : 'yellow'),
  })

  const forward = await ask<{ name: string; address: string }[]>('POST', '/v1/names', [{ name }])
  step('name', `${name} → ${forward[0]?.address}`)
  const back = await ask<{ clusterName: string; walletName: string }>('GET', `/v1/names/address/${account.address}`)
  step('address', `${account.address} → ${back.clusterName}/${back.walletName} (the oldest name it holds)`)
  const event = await until.event(world, ({ type, data }) => type === 'REGISTER_NAME' && data.name === name, {
    testnet,
  })
  step('event', `${event.id} ${event.type} ${JSON.stringify(event.data)}`)
  if (crossed) {
    const { spokeBlock, hubBlock, ms } = await crossed
    step(
      'latency',
      `${(ms / 1_000).toFixed(2)} s from block ${spokeBlock} of the spoke to the bid in block ${hubBlock} of the hub`,
    )
  }
  say('')
}

function anyAccount(world: World): PrivateKeyAccount {
  const key = world.accounts.evm[randomBytes(1).readUInt8(0) % world.accounts.evm.length]?.privateKey
  if (!key) throw new Error('The world file names no accounts: start the world again.')
  return privateKeyToAccount(key)
}

async function send(
  { chain }: Place,
  account: PrivateKeyAccount,
  { transactionData: { to, data, value } }: Quote,
): Promise<{ hash: Hex; atMs: number }> {
  const { walletOf } = await import('../testing/localChain.js')
  const hash = await walletOf(chain, chain.chainId, account).sendTransaction({ to, data, value: BigInt(value) })
  return { hash, atMs: performance.now() }
}

/** From the moment a spoke's block with the message is seen to the moment the hub's block with its bid is. */
async function timeCrossing(
  { chain, hub }: Place,
  hash: Hex,
): Promise<{ spokeBlock: bigint; hubBlock: bigint; ms: number }> {
  const { localClients } = await import('../testing/localChain.js')
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

function apiOf(api: string, testnet: boolean) {
  return async <T>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<T> => {
    const response = await fetch(`${api}${path}${testnet ? '?testnet=true' : ''}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    const answer: unknown = await response.json()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`)
    return answer as T
  }
}

/** Wei as a decimal number of ether. */
function ether(wei: string): string {
  const text = wei.padStart(19, '0')
  return `${text.slice(0, -18)}.${text.slice(-18)}`.replace(/\.?0+$/, '')
}

function say(line: string): void {
  console.log(line)
}

function step(what: string, text: string, colour: 'cyan' | 'green' | 'yellow' = 'cyan'): void {
  console.log(`  ${paint(colour, what.padEnd(10))} ${text}`)
}
