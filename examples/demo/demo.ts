/**
 * Registers names the way a wallet's frontend would (quote, sign, send, follow the status, look up, read the feed): on
 * the mainnet's hub, over the bridge from a spoke, from Solana, and below a free and a paid community. At last one of
 * them resolves by ENS. The world is that of CLUSTERD_HOME, or one started for the demo. Runnable: `npm run demo`.
 */
import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { styleText } from 'node:util'
import { Client } from 'clusterd/client'
import {
  type EventItem,
  payQuote,
  readWorld,
  startStack,
  until,
  type World,
  type WorldHub,
  type WorldNetwork,
  type WorldSolana,
  type WorldSpoke,
} from 'clusterd/testing'
import {
  createPublicClient,
  createWalletClient,
  defineChain,
  formatEther,
  formatUnits,
  type Hex,
  http,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { normalize } from 'viem/ens'

/** A chain of the world, or its Solana cluster. */
interface Place {
  label: string
  chain: WorldHub | WorldSpoke | WorldSolana
}

const EVM_DECIMALS = 18
const SOL_DECIMALS = 9

async function demo(): Promise<void> {
  const home = resolve(process.env.CLUSTERD_HOME || '.clusterd')
  const solanaRpcUrl = process.env.SOLANA_RPC_URL
  const world = readWorld(home)
  if (world && (await answers(world.ops))) return show(world)
  console.log('No world runs here: starting one for this demo ...')
  const stack = await startStack({ home, ...(solanaRpcUrl && { solanaRpcUrl }) })
  try {
    await show(stack.world)
  } finally {
    await stack.stop()
  }
}

const answers = (ops: string): Promise<boolean> =>
  fetch(`${ops}/health`, { signal: AbortSignal.timeout(2_000) }).then(
    ({ ok }) => ok,
    () => false,
  )

async function show(world: World): Promise<void> {
  const { hub, spokes, solana } = world.networks.mainnet
  const name = await register(world, { label: hub.network, chain: hub })
  for (const chain of spokes.slice(0, 1)) await register(world, { label: chain.network, chain })
  if (solana) await register(world, { label: 'solana', chain: solana })
  await joinCommunities(world, hub)
  await showEns(world.networks.mainnet, name)
}

const freshDigits = (): string => randomBytes(4).toString('hex')

/**
 * Registers a name as a wallet on a chain, and prints its latency where it has to cross to the hub.
 * @returns the name
 */
async function register(world: World, { label, chain }: Place): Promise<string> {
  const name = `demo-${freshDigits()}`
  const client = new Client({ url: world.api })
  const evm = privateKeyToAccount(anyOf(world.accounts.evm).privateKey)
  const onSolana = 'programId' in chain ? anyOf(world.accounts.solana) : null
  const sender = onSolana?.address ?? evm.address
  console.log(`${paint('bold', name)} for ${sender} on network "${label}"`)
  const quote = await client.quote({ network: label, sender, names: [{ name }] })
  const { registrationFee, bridgeFee, gasToken, transactionData } = quote
  const [fee, bridge] = [registrationFee, bridgeFee].map(
    (amount) =>
      `${formatUnits(BigInt(amount), onSolana ? SOL_DECIMALS : EVM_DECIMALS)} ${gasToken.symbol}`,
  )
  step('quote', `registration fee ${fee} and bridge fee ${bridge}`)
  const sentMs = performance.now()
  let tx: string
  if ('programId' in chain) tx = await payQuote(chain, onSolana!, (transactionData as string[])[0]!)
  else tx = await send(chain, evm, transactionData as Call)
  step('sent', tx)
  const ms = await followStatus(world, tx, sentMs)
  await showHolder(client, name)
  const back = await client.nameOf(sender)
  step('address', `${sender} → ${back?.clusterName}/${back?.walletName} (the oldest name it holds)`)
  await showEvent(world, ({ type, data }) => type === 'REGISTER_NAME' && data.name === name)
  if (!('contracts' in chain && 'hub' in chain.contracts))
    step(
      'latency',
      `${(ms / 1_000).toFixed(2)} s from the payment to the name being final on the hub`,
    )
  console.log()
  return name
}

/** Registers a name below the world's free community and pays for one below the paid community, as a wallet would. */
async function joinCommunities(world: World, hub: WorldHub): Promise<void> {
  const communities = world.seeds.mainnet?.communities
  if (!communities) return
  const account = privateKeyToAccount(anyOf(world.accounts.evm).privateKey)
  const client = new Client({ url: world.api })
  await client.signIn(account)
  const member = `member-${freshDigits()}`
  for (const { name: community } of [communities.open, communities.paid]) {
    const whole = `${community}/${member}`
    const isPaid = community === communities.paid.name
    console.log(
      `${paint('bold', whole)} for ${account.address}${isPaid ? ` on network "${hub.network}"` : ', free'}`,
    )
    const made = await client.registerBelow(community, {
      name: member,
      ...(isPaid && { network: hub.network }),
    })
    if (isPaid) {
      const { price, transactionInfo } = made
      if (!price || transactionInfo?.type !== 'evm') throw new Error(`${whole} has no price here.`)
      const { transaction } = transactionInfo
      step(
        'price',
        `${formatEther(BigInt(price.amount))} ETH, held by ${transaction.to} until the payment is decided`,
      )
      const sentMs = performance.now()
      const tx = await send(hub, account, transaction)
      step('sent', tx)
      await followStatus(world, tx, sentMs)
    }
    await showHolder(client, whole)
    const isOurs = ({ type, data }: EventItem) =>
      type === 'REGISTER_COMMUNITY_NAME' && `${data.community}/${data.name}` === whole
    await showEvent(world, isOurs)
    console.log()
  }
}

/** Resolves a name below the world's ENS name with viem alone, as any wallet does that knows ENS. */
async function showEns({ hub, ens }: WorldNetwork, ownName: string): Promise<void> {
  const contracts = { ensUniversalResolver: { address: ens.universalResolver } }
  const client = createPublicClient({ chain: { ...localChain(hub), contracts }, transport: http() })
  const name = normalize(`${ownName}.${ens.parent}`)
  console.log(`${paint('bold', name)}, as any wallet resolves it`)
  step('ENS', `${name} → ${await client.getEnsAddress({ name })}`)
}

function anyOf<T>(accounts: readonly T[]): T {
  const account = accounts[randomBytes(1).readUInt8(0) % accounts.length]
  if (!account) throw new Error('The world file names no accounts: start the world again.')
  return account
}

/** Colours text on a terminal; plain text for a file or pipe. */
const paint = (style: 'bold' | 'cyan' | 'green' | 'yellow', text: string): string =>
  process.stdout.isTTY ? styleText(style, text) : text

const step = (what: string, text: string, colour: 'cyan' | 'green' | 'yellow' = 'cyan'): void =>
  console.log(`  ${paint(colour, what.padEnd(10))} ${text}`)

interface Call {
  to: Hex
  data: Hex
  value: bigint
}

/** A chain of the world in viem's form. */
function localChain({ chainId, rpcUrl }: WorldHub | WorldSpoke) {
  const nativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: EVM_DECIMALS }
  return defineChain({
    id: chainId,
    name: 'local',
    nativeCurrency,
    rpcUrls: { default: { http: [rpcUrl] } },
  })
}

/** Sends a quoted transaction on a local chain. @returns its hash */
async function send(
  chain: WorldHub | WorldSpoke,
  account: ReturnType<typeof privateKeyToAccount>,
  call: Call,
): Promise<Hex> {
  const wallet = createWalletClient({ account, chain: localChain(chain), transport: http() })
  return wallet.sendTransaction(call)
}

/** Follows a transaction to `finalized`, printing each status. @returns milliseconds since `sentMs` */
async function followStatus(world: World, tx: string, sentMs: number): Promise<number> {
  await until.status(world, tx, 'finalized', {
    onChange: ({ status, step: why }) => {
      const since = `${((performance.now() - sentMs) / 1_000).toFixed(2)} s`
      step(status, `${since}${why ? ` (${why})` : ''}`, status === 'finalized' ? 'green' : 'yellow')
    },
  })
  return performance.now() - sentMs
}

async function showHolder(client: Client, name: string): Promise<void> {
  step('name', `${name} → ${(await client.addressOf(name))?.address}`)
}

/** Prints the first event that is asked for, once it is there. */
async function showEvent(world: World, isAsked: (event: EventItem) => boolean): Promise<void> {
  const { id, type, data } = await until.event(world, isAsked)
  step('event', `${id} ${type} ${JSON.stringify(data)}`)
}

await demo()
