import { randomBytes } from 'node:crypto'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { readEnvironment } from '../config.js'
import type { World } from '../testing/index.js'
import { paint } from './paint.js'

export interface DemoOptions {
  name?: string
  testnet?: boolean
}

interface Quote {
  transactionData: { to: Hex; data: Hex; value: string }
  registrationFee: string
}

/**
 * `clusterd demo`: does the service's main job the way a wallet's frontend would: quote, sign, send, follow the status,
 * look the name up both ways, read the feed. Against the world of CLUSTERD_HOME, or one that it starts for itself.
 */
export async function demo(options: DemoOptions): Promise<void> {
  const { home } = readEnvironment()
  const { readWorld } = await import('../testing/world.js')
  const world = readWorld(home)
  if (world && (await answers(world.ops))) return register(world, options)
  say('No world runs here: starting one for this demo ...')
  const { startStack } = await import('../testing/stack.js')
  const stack = await startStack({ home })
  try {
    await register(stack.world, options)
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

async function register(world: World, options: DemoOptions): Promise<void> {
  const { localClients, walletOf } = await import('../testing/localChain.js')
  const { until } = await import('../testing/until.js')
  const testnet = options.testnet === true
  const { hub } = world.networks[testnet ? 'testnet' : 'mainnet']
  const key = world.accounts.evm[randomBytes(1).readUInt8(0) % world.accounts.evm.length]?.privateKey
  if (!key) throw new Error('The world file names no accounts: start the world again.')
  const account = privateKeyToAccount(key)
  const name = options.name ?? `demo-${randomBytes(4).toString('hex')}`
  const ask = apiOf(world.api, testnet)

  say(`${bold(name)} for ${account.address} on network "${hub.network}"`)
  const quote = await ask<Quote>('POST', '/v1/names/register/evm', {
    network: hub.network,
    sender: account.address,
    names: [{ name }],
  })
  step('quote', `registration fee ${ether(quote.registrationFee)} ETH, to ${quote.transactionData.to}`)

  const { to, data, value } = quote.transactionData
  const tx = await walletOf(hub, hub.chainId, account).sendTransaction({ to, data, value: BigInt(value) })
  const sentMs = performance.now()
  const since = () => `${((performance.now() - sentMs) / 1_000).toFixed(2)} s`
  step('sent', tx)
  await until.status(world, tx, 'finalized', {
    testnet,
    onChange: ({ status }) => step(status, since(), status === 'finalized' ? 'green' : 'yellow'),
  })
  const { blockNumber } = await localClients(hub, hub.chainId).reader.getTransactionReceipt({ hash: tx })

  const forward = await ask<{ name: string; address: string }[]>('POST', '/v1/names', [{ name }])
  step('name', `${name} → ${forward[0]?.address}`)
  const back = await ask<{ clusterName: string; walletName: string }>('GET', `/v1/names/address/${account.address}`)
  step('address', `${account.address} → ${back.clusterName}/${back.walletName} (the oldest name it holds)`)
  const event = await until.event(world, ({ type, data }) => type === 'REGISTER_NAME' && data.name === name, {
    testnet,
  })
  step('event', `${event.id} ${event.type} ${JSON.stringify(event.data)}`)
  say(`Registered in block ${blockNumber}.`)
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

function bold(text: string): string {
  return paint('bold', text)
}

function say(line: string): void {
  console.log(line)
}

function step(what: string, text: string, colour: 'cyan' | 'green' | 'yellow' = 'cyan'): void {
  console.log(`  ${paint(colour, what.padEnd(10))} ${text}`)
}
