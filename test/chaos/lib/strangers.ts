import { setMaxListeners } from 'node:events'
import {
  encodeDeployData,
  encodeFunctionData,
  getCreateAddress,
  type Hex,
  keccak256,
  parseAbi,
  parseEther,
  toHex,
  zeroAddress,
} from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { testBatchBytecode } from '../../../contracts/evm/artifacts/test-doubles/TestBatch.js'
import {
  testTokenAbi,
  testTokenBytecode,
} from '../../../contracts/evm/artifacts/test-doubles/TestToken.js'
import {
  buildExecutePacketCall,
  encodePlaceBidsCalldata,
} from '../../../src/chains/evm/bridge/calls.js'
import { encodeHubMessage } from '../../../src/chains/evm/bridge/hubMessage.js'
import { decodePacket } from '../../../src/chains/evm/bridge/packet.js'
import {
  decodeLzReceiveOption,
  encodeLzReceiveOption,
} from '../../../src/chains/evm/bridge/packetOptions.js'
import {
  communityPaymentsAbi,
  layerZeroEndpointAbi,
} from '../../../src/chains/evm/contracts/index.js'
import { createLocalWalletClient, fundAddresses } from '../../../src/testing/chains/localClients.js'
import { integerBetween, pickElement } from '../../../src/testing/faultProxy/random.js'
import { bridgeCall } from '../../../src/testing/index.js'
import { addressAsBytes32 } from '../../../src/testing/world.js'
import { type BatchCall, batchOf } from '../../support/batch.js'
import { seededRandomSequence } from '../../support/random.js'
import { PRICE_WEI, paymentFor } from './community.js'
import { actAtPace, STALLS, someNames } from './wallets.js'
import type { ChaosChain, ChaosWorld } from './world.js'

const GAS = 500_000n

/** A stranger on a chain, with contracts of its own. */
export interface Stranger {
  chain: ChaosChain
  /** Chains that exchange messages with this one: the spokes of a hub, or the hub of a spoke. */
  far: readonly ChaosChain[]
  account: PrivateKeyAccount
  /** A token whose misbehaviour can be chosen. */
  token: Hex
  /** A wallet contract that makes several calls in one transaction. */
  batch: Hex
}

/** An action of a stranger. */
type StrangerAction = (stranger: Stranger, next: () => number) => Promise<void>

/** Creates a stranger on each chain. Runs before any reorg. */
export const openStrangers = ({ chains, hub }: ChaosWorld, seed: number): Promise<Stranger[]> =>
  Promise.all(
    chains.map(async (chain) => {
      const account = privateKeyToAccount(keccak256(toHex(`${seed}/stranger/${chain.label}`)))
      await fundAddresses(chain, [account.address])
      const deployed = (nonce: bigint): Hex => getCreateAddress({ from: account.address, nonce })
      const token = deployed(0n)
      const batch = deployed(1n)
      await send(chain, account, {
        data: encodeDeployData({ abi: testTokenAbi, bytecode: testTokenBytecode }),
      })
      await send(chain, account, { data: testBatchBytecode })
      const coins = { functionName: 'mint', args: [account.address, 10n ** 24n] } as const
      await send(chain, account, {
        to: token,
        data: encodeFunctionData({ abi: testTokenAbi, ...coins }),
      })
      const all = { functionName: 'approve', args: [chain.payments, 10n ** 24n] } as const
      await send(chain, account, {
        to: token,
        data: encodeFunctionData({ abi: testTokenAbi, ...all }),
      })
      return {
        chain,
        far: chain === hub ? chains.filter((one) => one !== hub) : [hub],
        account,
        token,
        batch,
      }
    }),
  )

/** Sends without waiting, with a fixed gas limit, so that reverting calls are mined too. */
async function send(
  chain: ChaosChain,
  account: PrivateKeyAccount,
  tx: { to?: Hex; data: Hex; value?: bigint },
): Promise<void> {
  await createLocalWalletClient(chain, account).sendTransaction({
    gas: tx.to ? GAS : 5n * GAS,
    ...tx,
  })
}

const BID_WEI = parseEther('0.01')
const RECEIVE_GAS = 400_000n
/** Blocks that are searched for packets to execute. Some of the packets are verified by then, others are not. */
const RECENT_BLOCKS = 40n

/** The endpoint's `send`, which anybody may call. The caller is the sender. */
const sendAbi = parseAbi([
  'struct MessagingParams { uint32 dstEid; bytes32 receiver; bytes message; bytes options; bool payInLzToken; }',
  'function send(MessagingParams params, address refundAddress) payable',
])

const bidsFor = (names: readonly string[]): Hex =>
  encodePlaceBidsCalldata(
    names.map((name) => ({ name, amountWei: BID_WEI })),
    null,
  )

/** A valid message to our contract on another chain, from a sender that is not a peer. */
async function strayPacket({ chain, batch }: Stranger, far: ChaosChain, next: () => number) {
  const params = {
    dstEid: far.eid,
    receiver: addressAsBytes32(far.contract),
    payInLzToken: false,
    message: encodeHubMessage(addressAsBytes32(batch), bidsFor(someNames(next, 1))),
    options: encodeLzReceiveOption({ gas: RECEIVE_GAS, value: BID_WEI }),
  }
  const quoted = {
    abi: layerZeroEndpointAbi,
    functionName: 'quote',
    args: [params, batch],
  } as const
  const { nativeFee } = await chain.reader.readContract({ address: chain.endpoint, ...quoted })
  const data = encodeFunctionData({ abi: sendAbi, functionName: 'send', args: [params, batch] })
  return { to: chain.endpoint, data, value: nativeFee }
}

/** Makes several calls in one transaction. */
const inOne = ({ chain, account, batch }: Stranger, calls: readonly BatchCall[]) =>
  send(chain, account, batchOf(batch, calls))

/** Strangers' actions on LayerZero itself, on the path of our messages. */
const MESSAGE_ACTIONS = {
  'stray messages': async (stranger, next) =>
    inOne(stranger, [await strayPacket(stranger, pickElement(next(), stranger.far), next)]),
  /**
   * One of our messages between two others in one transaction, which then has three packets. On a hub: three other
   * messages.
   */
  'stray messages around ours': async (stranger, next) => {
    const { chain, far, batch } = stranger
    const [name] = someNames(next, 1)
    const at = { ...chain, contracts: { spoke: chain.contract } }
    const own = chain.isHub
      ? null
      : { from: batch, hubCalldata: bidsFor([name!]), valueWei: BID_WEI }
    const stray = () => strayPacket(stranger, pickElement(next(), far), next)
    await inOne(stranger, [
      await stray(),
      own ? await bridgeCall(at, own) : await stray(),
      await stray(),
    ])
  },
  /** Somebody else executes a message to this chain, verified or not, with its value or a wei more. */
  executions: async ({ chain, account, far }, next) => {
    const from = pickElement(next(), far)
    const head = await from.reader.getBlockNumber()
    const sent = await from.reader.getContractEvents({
      abi: layerZeroEndpointAbi,
      eventName: 'PacketSent',
      address: from.endpoint,
      strict: true,
      fromBlock: head > RECENT_BLOCKS ? head - RECENT_BLOCKS : 0n,
    })
    const { args } = pickElement(next(), sent)
    const packet = decodePacket(args.encodedPayload)!
    const { value } = decodeLzReceiveOption(args.options)!
    await send(chain, account, {
      ...buildExecutePacketCall(chain.endpoint, packet),
      value: value + pickElement(next(), [0n, 0n, 1n]),
    })
  },
} satisfies Record<string, StrangerAction>

const PACE_MS = { min: 1_500, max: 5_000 }
/** Ways in which a token misbehaves. */
const MODES = 10

/** Number of strangers' transactions by kind. */
export type Dust = Record<string, number>

/** Lets the strangers send worthless transactions to every contract until the signal. */
export async function runStrangers(
  strangers: readonly Stranger[],
  seed: number,
  signal: AbortSignal,
  dust: Dust,
): Promise<void> {
  setMaxListeners(0, signal)
  await Promise.all(
    strangers.map((stranger) => {
      const next = seededRandomSequence(seed, 'stranger', stranger.chain.label)
      return actAtPace(next, PACE_MS, signal, async () => {
        const kind = pickElement(next(), KINDS)
        await ACTIONS[kind](stranger, next)
        dust[kind] = (dust[kind] ?? 0) + 1
      })
    }),
  )
}

/** A name for which wallets pay too. */
const someStall = (next: () => number): string => `stall-${integerBetween(next(), 1, STALLS)}`

const ACTIONS = {
  ...MESSAGE_ACTIONS,
  /** A payment of one unit, for a name that others want. */
  'payments of 1 wei': async ({ chain, account }, next) =>
    send(chain, account, paymentFor(chain, someStall(next), 1n)),
  /** A payment of the price, to the payer itself. */
  'payments to oneself': async ({ chain, account }, next) =>
    send(
      chain,
      account,
      paymentFor(chain, someStall(next), PRICE_WEI, { recipient: account.address }),
    ),
  'payments for nobody': async ({ chain, account }, next) =>
    send(chain, account, paymentFor(chain, someStall(next), 1n, { community: 'nobody-has-this' })),
  /** A payment in a token whose behaviour changes from payment to payment. */
  'hostile tokens': async ({ chain, account, token }, next) => {
    const mode = { functionName: 'setMode', args: [integerBetween(next(), 0, MODES - 1)] } as const
    await send(chain, account, {
      to: token,
      data: encodeFunctionData({ abi: testTokenAbi, ...mode }),
    })
    await send(
      chain,
      account,
      paymentFor(chain, someStall(next), pickElement(next(), [1n, PRICE_WEI]), { token }),
    )
  },
  /** Meaningless calls to every contract. */
  'bogus messages': async ({ chain, account }, next) => {
    const bytes = keccak256(toHex(next().toString()))
    await send(chain, account, {
      to: pickElement(next(), [chain.contract, chain.payments]),
      data: bytes,
      value: 1n,
    })
  },
  withdrawals: async ({ chain, account, token }, next) => {
    const args = [pickElement(next(), [zeroAddress, token]), account.address] as const
    const data = encodeFunctionData({ abi: communityPaymentsAbi, functionName: 'withdraw', args })
    await send(chain, account, { to: chain.payments, data })
  },
} satisfies Record<string, StrangerAction>

const KINDS = Object.keys(ACTIONS) as (keyof typeof ACTIONS)[]
