import { encodeFunctionData, type Hex, parseAbi, parseEther } from 'viem'
import { testBatchAbi } from '../../../contracts/evm/artifacts/test-doubles/TestBatch.js'
import { executeCall } from '../../../src/chains/evm/bridge/calls.js'
import { encodeMessage } from '../../../src/chains/evm/bridge/hubMessage.js'
import { decodePacket } from '../../../src/chains/evm/bridge/packet.js'
import { decodeLzReceiveOption, encodeLzReceiveOption } from '../../../src/chains/evm/bridge/packetOptions.js'
import { encodePlaceBids } from '../../../src/chains/evm/calldata.js'
import { endpointAbi } from '../../../src/chains/evm/contracts/index.js'
import { pick } from '../../../src/testing/faultProxy/random.js'
import { bridgeCall } from '../../../src/testing/index.js'
import { addressWord } from '../../../src/testing/world.js'
import { type Deed, type Stranger, send } from './stranger.js'
import { someNames } from './wallets.js'
import type { ChaosChain } from './world.js'

const BID_WEI = parseEther('0.01')
const RECEIVE_GAS = 400_000n
/** Blocks in which packets to execute are looked for: some are verified by then, others are not. */
const RECENT_BLOCKS = 40n

/** The endpoint's door, which is anybody's: whoever calls is the sender. */
const sendAbi = parseAbi([
  'struct MessagingParams { uint32 dstEid; bytes32 receiver; bytes message; bytes options; bool payInLzToken; }',
  'function send(MessagingParams params, address refundAddress) payable',
])

const bidsFor = (names: readonly string[]): Hex =>
  encodePlaceBids(
    names.map((name) => ({ name, amountWei: BID_WEI })),
    null,
  )

/** A true message to our contract on another chain, from a sender that is nobody's peer. */
async function strayPacket({ chain, batch }: Stranger, far: ChaosChain, next: () => number) {
  const params = {
    ...{ dstEid: far.eid, receiver: addressWord(far.contract), payInLzToken: false },
    message: encodeMessage(addressWord(batch), bidsFor(someNames(next, 1))),
    options: encodeLzReceiveOption({ gas: RECEIVE_GAS, value: BID_WEI }),
  }
  const quoted = { abi: endpointAbi, functionName: 'quote', args: [params, batch] } as const
  const { nativeFee } = await chain.reader.readContract({ address: chain.endpoint, ...quoted })
  const data = encodeFunctionData({ abi: sendAbi, functionName: 'send', args: [params, batch] })
  return { to: chain.endpoint, data, value: nativeFee }
}

/** Makes the calls in one transaction. */
const inOne = ({ chain, account, batch }: Stranger, calls: readonly { to: Hex; data: Hex; value: bigint }[]) =>
  send(chain, account, {
    to: batch,
    data: encodeFunctionData({ abi: testBatchAbi, functionName: 'run', args: [calls] }),
    value: calls.reduce((sum, { value }) => sum + value, 0n),
  })

/** What strangers do with LayerZero itself, on the way that our messages take. */
export const MESSAGE_DEEDS = {
  'stray messages': async (stranger, next) =>
    inOne(stranger, [await strayPacket(stranger, pick(next(), stranger.far), next)]),
  /** One of ours between two others in one transaction, which has three packets then; on a hub three others. */
  'stray messages around ours': async (stranger, next) => {
    const { chain, far, batch } = stranger
    const [name] = someNames(next, 1)
    const at = { ...chain, contracts: { spoke: chain.contract } }
    const own = chain.isHub ? null : { from: batch, hubCalldata: bidsFor([name!]), valueWei: BID_WEI }
    const stray = () => strayPacket(stranger, pick(next(), far), next)
    await inOne(stranger, [await stray(), own ? await bridgeCall(at, own) : await stray(), await stray()])
  },
  /** A message to this chain is executed by somebody else, verified or not, with its value or a wei more. */
  executions: async ({ chain, account, far }, next) => {
    const from = pick(next(), far)
    const head = await from.reader.getBlockNumber()
    const sent = await from.reader.getContractEvents({
      ...{ abi: endpointAbi, eventName: 'PacketSent', address: from.endpoint, strict: true },
      fromBlock: head > RECENT_BLOCKS ? head - RECENT_BLOCKS : 0n,
    })
    const { args } = pick(next(), sent)
    const packet = decodePacket(args.encodedPayload)!
    const { value } = decodeLzReceiveOption(args.options)!
    await send(chain, account, { ...executeCall(chain.endpoint, packet), value: value + pick(next(), [0n, 0n, 1n]) })
  },
} satisfies Record<string, Deed>
