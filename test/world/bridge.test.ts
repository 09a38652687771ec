import { encodeFunctionData, type Hex, parseEther } from 'viem'
import { describe, expect, it } from 'vitest'
import { encodePlaceBidsCalldata } from '../../src/chains/evm/bridge/calls.js'
import { layerZeroEndpointAbi, localMessageLibAbi } from '../../src/chains/evm/contracts/index.js'
import { createLocalWalletClient } from '../../src/testing/chains/localClients.js'
import { bridgeCall, startStack, until } from '../../src/testing/index.js'
import { operatorAccount } from '../../src/testing/world.js'
import { type Packet, packetsOf } from '../contracts/support/bridge.js'
import { type BatchCall, deployBatch, runBatch } from '../support/batch.js'
import { waitForReceipt } from '../support/receipt.js'
import { useWorld } from '../support/useWorld.js'
import {
  addressWord,
  ask,
  callOf,
  freshName,
  freshWallet,
  hubOf,
  nameWord,
  quoteOn,
  readCredit,
  readOwner,
  registerOn,
  spokeOf,
} from '../support/world.js'

const BID_WEI = parseEther('0.01')
const SPOKE = '8453'

/** A world without a relayer: each test delivers the messages itself. */
const stack = useWorld(() =>
  startStack({
    chains: ['1', SPOKE],
    seeds: false,
    blockMs: 200,
    daemonEnv: { RELAYER_PRIVATE_KEY: undefined },
  }),
)

describe('a message on its way', () => {
  it('is bridging until the hub has executed it', async () => {
    const account = await freshWallet('mainnet', stack)
    const name = freshName()
    const tx = await registerOn(SPOKE, account, [{ name }], stack)
    expect(await until.status(stack, tx, 'bridging')).toMatchObject({
      network: SPOKE,
      names: [{ name, outcome: 'bridging' }],
    })
    const [packet] = await packetsIn(tx)
    await verify([packet!])
    expect((await ask('GET', `/v1/names/register/tx/${tx}`, undefined, stack)).body).toMatchObject({
      status: 'bridging',
    })
    const hash = await onHub(account, executing(packet!, BID_WEI))
    expect(await until.status(stack, tx, 'finalized')).toMatchObject({
      names: [{ name, outcome: 'won' }],
      hubTx: hash,
    })
  })

  it('ends as lost_bid when its first name is taken, though another of its names is won', async () => {
    const first = await freshWallet('mainnet', stack)
    const second = await freshWallet('mainnet', stack)
    const taken = freshName()
    const free = freshName()
    await until.status(stack, await registerOn('1', first, [{ name: taken }], stack), 'finalized')
    const bids = [taken, free].map((name) => ({ name, amountWei: BID_WEI }))
    const call = await bridgeCall(spoke(), {
      from: second.address,
      hubCalldata: encodePlaceBidsCalldata(bids, null),
      valueWei: 2n * BID_WEI,
    })
    const tx = await createLocalWalletClient(spoke(), second).sendTransaction(call)
    const [packet] = await packetsIn(tx)
    await verify([packet!])
    await onHub(second, executing(packet!, 2n * BID_WEI))
    expect(await until.status(stack, tx, 'lost_bid')).toMatchObject({
      names: [
        { name: taken, outcome: 'lost' },
        { name: free, outcome: 'won' },
      ],
    })
    expect(await readCredit(addressWord(second.address), '8453', stack)).toBe(BID_WEI)
  })
})

describe('one transaction of the hub', () => {
  it('that executes two messages and bids itself: each status has its own names', async () => {
    const [alice, bob, carol] = await Promise.all(
      [1, 2, 3].map(() => freshWallet('mainnet', stack)),
    )
    const names = Array.from({ length: 4 }, () => freshName())
    const [ofAlice, ofBob, ofCarol] = [names.slice(0, 1), names.slice(1, 3), names.slice(3)].map(
      (some) => some.map((name) => ({ name })),
    )
    const sent = [
      await registerOn(SPOKE, alice!, ofAlice!, stack),
      await registerOn(SPOKE, bob!, ofBob!, stack),
    ]
    const [a, b] = (await Promise.all(sent.map(packetsIn))).flat()
    await verify([a!, b!])

    const batch = await deployBatch(hubOf('mainnet', stack), carol!)
    const direct = callOf(await quoteOn('1', batch, ofCarol!, stack))
    const calls = [executing(a!, BID_WEI), direct, executing(b!, 2n * BID_WEI)]
    const tx = await runBatch(hubOf('mainnet', stack), carol!, batch, calls)

    const won = (some: typeof ofAlice) => some!.map(({ name }) => ({ name, outcome: 'won' }))
    expect(await until.status(stack, sent[0]!, 'finalized')).toMatchObject({
      names: won(ofAlice),
      hubTx: tx,
    })
    expect(await until.status(stack, sent[1]!, 'finalized')).toMatchObject({
      names: won(ofBob),
      hubTx: tx,
    })
    const { names: all } = await until.status(stack, tx, 'finalized')
    expect(all).toEqual(expect.arrayContaining(won(ofCarol)))
    const owners = await Promise.all(
      names.map((name) => readOwner(nameWord(name), 'mainnet', stack)),
    )
    expect(owners).toEqual([alice!.address, bob!.address, bob!.address, batch].map(addressWord))
  })
})

describe('a bridge that cannot quote', () => {
  it('is 502 bridge_failure on the spoke, nothing on the hub, and over when it can again', async () => {
    const sender = (await freshWallet('mainnet', stack)).address
    // more than any other test quotes: fees of the same message are served for a while
    const names = Array.from({ length: 7 }, () => ({ name: freshName() }))
    const quote = (network: string) =>
      ask<{ error?: string }>('POST', '/v1/names/register/evm', { network, sender, names }, stack)
    await setQuoteFails(true)
    try {
      const { status, body } = await quote(SPOKE)
      expect([status, body]).toEqual([
        502,
        { status: 502, error: 'bridge_failure', message: expect.stringMatching(/./) },
      ])
      expect((await quote('1')).status).toBe(200)
    } finally {
      await setQuoteFails(false)
    }
    expect((await quote(SPOKE)).status).toBe(200)
  })
})

const spoke = () => spokeOf(SPOKE, stack)

async function packetsIn(tx: Hex): Promise<Packet[]> {
  return packetsOf(await waitForReceipt(spoke().reader, tx))
}

/** Verifies the packets at the hub's endpoint, the relayer's first step. */
async function verify(packets: readonly Packet[]): Promise<void> {
  for (const { encoded } of packets) {
    await onHub(operatorAccount('relayer'), {
      to: stack.anvils['1']!.config.messageLib,
      data: encodeFunctionData({
        abi: localMessageLibAbi,
        functionName: 'validatePacket',
        args: [encoded],
      }),
      value: 0n,
    })
  }
}

/** The call that executes a packet, open to anybody. */
function executing({ origin, receiver, guid, message }: Packet, value: bigint): BatchCall {
  const data = encodeFunctionData({
    abi: layerZeroEndpointAbi,
    functionName: 'lzReceive',
    args: [origin, receiver, guid, message, '0x'],
  })
  return { to: hubOf('mainnet', stack).contracts.endpoint, data, value }
}

async function onHub(
  account: Parameters<typeof createLocalWalletClient>[1],
  call: BatchCall,
): Promise<Hex> {
  const hub = hubOf('mainnet', stack)
  const hash = await createLocalWalletClient(hub, account).sendTransaction(call)
  const { status } = await waitForReceipt(hub.reader, hash)
  expect(status).toBe('success')
  return hash
}

async function setQuoteFails(fails: boolean): Promise<void> {
  const hash = await createLocalWalletClient(spoke(), operatorAccount('deployer')).sendTransaction({
    to: stack.anvils[SPOKE]!.config.messageLib,
    data: encodeFunctionData({
      abi: localMessageLibAbi,
      functionName: 'setQuoteFails',
      args: [fails],
    }),
  })
  await waitForReceipt(spoke().reader, hash)
}
