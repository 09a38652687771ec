import { type PublicKey, TransactionInstruction } from '@solana/web3.js'
import bs58 from 'bs58'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Context, createRequestContexts } from '../../src/api/http/context.js'
import { readTxStatus } from '../../src/api/status/status.js'
import { createSolanaRpc } from '../../src/chains/rpc/solana.js'
import { createCommunityPaymentInstructions } from '../../src/chains/solana/community/program.js'
import { readTransaction } from '../../src/chains/solana/reads.js'
import {
  associatedTokenAddress,
  createTokenAccountInstruction,
  TOKEN_PROGRAM,
} from '../../src/chains/solana/tokens.js'
import { findChain } from '../../src/db/chains/chains.js'
import { appendSignedChanges } from '../../src/db/journal/appendSignedChanges.js'
import { replayJournal } from '../../src/db/journal/replay.js'
import { rewindJournal } from '../../src/db/journal/rewind/index.js'
import { findRefusedPaymentPositions } from '../../src/db/outbox/refusals.js'
import { countOpenJobs } from '../../src/db/outbox/stats.js'
import { inTransaction } from '../../src/db/pg/pool.js'
import { checkRewindTarget } from '../../src/indexer/evm/rewindPoint.js'
import { CommunityPaymentJudge } from '../../src/indexer/judge.js'
import { listTransactions } from '../../src/indexer/solana/list.js'
import { communityRulesInputCodec } from '../../src/registry/community/rules.js'
import type { CommunityChange } from '../../src/registry/journal/change.js'
import { fromHex } from '../../src/registry/primitives/bytes.js'
import { parseTxId } from '../../src/registry/primitives/txId.js'
import { keypairOfAccount } from '../../src/testing/solana/accounts.js'
import { MINIMUM_WEI, openChains, placeBids } from '../support/bridgeWorld.js'
import { waitForReceipt } from '../support/receipt.js'
import { sendSolanaTransaction } from '../support/sendSolana.js'
import { createMint, mintTokens, payCommunity } from '../support/solanaTokens.js'
import { useWorld } from '../support/useWorld.js'
import { RELEASE_AFTER_MS, startPaymentWorld } from './paymentWorld.js'

/** Payments for names of communities on Solana: refunded once where they bought nothing, else released. */
const PRICE = 30_000_000n
const TOKEN_PRICE = 500n
const BACK = 'lost_bid name_taken refused'
const WAIT = { timeout: 20_000, interval: 100 }

const world = useWorld(() => startPaymentWorld())
let context: Context
let mint: PublicKey
let recipient: PublicKey
const CONFIG = { serviceDomain: '', tokenKey: Buffer.alloc(32) }

beforeAll(async () => {
  const { bridge, connection } = world
  context = createRequestContexts({ pool: bridge.pool, chains: [], config: CONFIG }).mainnet
  recipient = payerOf(4).publicKey
  mint = await createMint(connection, payerOf(3))
  await mintTokens(connection, payerOf(3), {
    mint,
    owner: payerOf(1).publicKey,
    amount: TOKEN_PRICE,
  })
  await mintTokens(connection, payerOf(3), {
    mint,
    owner: payerOf(2).publicKey,
    amount: TOKEN_PRICE,
  })
  const bid = { to: bridge.contracts.hub, data: placeBids(['club']), value: MINIMUM_WEI }
  await bridge.hub.walletClient(0).sendTransaction(bid)
  await bridge.hub.test.mine({ blocks: 3 })
  await bridge.index()
  const price = { network: 'solana', recipient: recipient.toBase58() }
  const prices = [
    { ...price, token: 'native', amount: String(PRICE) },
    { ...price, token: mint.toBase58(), amount: String(TOKEN_PRICE) },
  ]
  const rules = communityRulesInputCodec.parse({ prices })
  await change({ kind: 'configure_community', actor: null, community: 'club', rules })
})
beforeEach(() => {
  world.bridge.aheadMs = 0
})

const payerOf = (index: number) => keypairOfAccount(world.solana.accounts[index]!)

async function change(what: CommunityChange): Promise<void> {
  const made = await appendSignedChanges(world.bridge.pool, { network: 'mainnet', changes: [what] })
  if (made.kind !== 'made') throw new Error(JSON.stringify(made))
}

/** Registers a name from the community's owner to another wallet. */
async function take(name: string): Promise<void> {
  const [actor, wallet] = [0, 5].map((index) =>
    fromHex(`0x01${world.bridge.wallet(index).address.slice(2)}`),
  )
  const kind = 'register_community_name'
  await change({
    kind,
    actor: actor!,
    community: 'club',
    name,
    wallet: wallet!,
    met: null,
    isAssigned: false,
  })
}

/** Pays for a name, and has the payment indexed. @returns the signature */
async function pay(
  name: string,
  { by = 0, amount = PRICE, inTokens = false } = {},
): Promise<string> {
  const token = inTokens ? { token: { mint, decimals: 6 } } : {}
  const order = { community: 'club', name, amount, recipient, ...token }
  const signature = await payCommunity(world.connection, world.solana.programId, payerOf(by), order)
  await world.watch()
  return signature
}

const judge = () =>
  new CommunityPaymentJudge({
    pool: world.bridge.pool,
    network: 'mainnet',
    ports: [],
    epoch: world.bridge.epochOf('index')!,
  }).step()

/** Answer for a transaction: status, reason, refund. */
async function outcomeOf(signature: string): Promise<string> {
  const { status, reason, refund } = await readTxStatus(context, parseTxId(signature)!)
  return [status, reason, refund].filter((part) => part !== undefined).join(' ')
}

async function payoutOf(signature: string) {
  const { rows } = await world.bridge.pool.query<{
    state: number
    reason: string | null
    txs: object[]
  }>(
    `SELECT j.state, j.reason, j.txs FROM jobs j JOIN payments p ON p.id = j.subject WHERE p.tx = $1 AND j.kind IN (5, 8)`,
    [Buffer.from(bs58.decode(signature))],
  )
  return rows[0]
}

const paymentOf = async (signature: string) => {
  const sql = 'SELECT id, chain, block, sequence, number FROM payments WHERE tx = $1'
  return (await world.bridge.pool.query(sql, [Buffer.from(bs58.decode(signature))])).rows[0]
}

/** Outcomes of a payment by the program's own events, in order. */
async function outcomesOf(signature: string): Promise<string[]> {
  const paid = await paymentOf(signature)
  const rpc = createSolanaRpc({ rpcUrls: [world.solana.rpcUrl] })
  return rpc.onOneNode(async (call) => {
    const { startSlot: downToSlot } = world.solana
    const options = { commitment: 'confirmed' as const, until: null, downToSlot }
    const { listed } = await listTransactions(call, world.registrar, options)
    const read = listed
      .reverse()
      .map((one) => readTransaction(call, world.registrar, one.signature, 'confirmed'))
    const outcomes = (await Promise.all(read)).flatMap((tx) => tx!.ends)
    return outcomes
      .filter(({ sequence }) => sequence === BigInt(paid.sequence))
      .map(({ outcome }) => outcome)
  })
}

const tokensOf = async (index: number): Promise<string> => {
  const address = associatedTokenAddress(payerOf(index).publicKey, mint)
  return (await world.connection.getTokenAccountBalance(address, 'confirmed')).value.amount
}
const CONFIRMED = 4

describe('a payment that bought nothing', () => {
  it('is refused and paid back in one transaction, in SOL and in a token', async () => {
    await take('taken')
    const before = await world.balance(payerOf(0))
    const cheap = await pay('cheap', { amount: PRICE - 1n })
    const lost = await pay('taken', { by: 1, amount: TOKEN_PRICE, inTokens: true })
    const bought = await pay('bought', { by: 3 })
    expect(await tokensOf(1)).toBe('0')
    expect(await judge()).toMatchObject({ kind: 'entered', payments: 3 })
    expect(await outcomeOf(cheap)).toBe('invalid underpaid held')
    expect(await outcomeOf(lost)).toBe('lost_bid name_taken held')
    expect(await outcomeOf(bought)).toBe('finalized')
    expect(
      await countOpenJobs(world.bridge.pool, { network: 'mainnet', chain: world.chain }),
    ).toMatchObject([{ kind: 'refuse', state: 'queued', count: 2 }])
    await world.finish(await world.restart())
    for (const [name, signature] of Object.entries({ cheap, lost })) {
      expect(await payoutOf(signature), name).toMatchObject({ state: CONFIRMED, reason: null })
      expect(await outcomesOf(signature), name).toEqual(['refused'])
    }
    expect(`${await outcomeOf(cheap)}, ${await outcomeOf(lost)}`).toBe(
      `invalid underpaid refused, ${BACK}`,
    )
    expect(await tokensOf(1)).toBe(String(TOKEN_PRICE))
    // all but the fee of the transaction that paid
    expect(before - (await world.balance(payerOf(0)))).toBeLessThan(100_000n)
    expect(await payoutOf(bought)).toBeUndefined()
    expect(await outcomesOf(bought)).toEqual([])
    // the name can be paid for again
    await pay('cheap', { by: 3 })
    expect(await judge()).toMatchObject({ kind: 'entered', payments: 1 })
  })

  it('is refused, and waits, where its payer has closed the account for the token', async () => {
    await take('closed')
    const signature = await pay('closed', { by: 2, amount: TOKEN_PRICE, inTokens: true })
    await sendSolanaTransaction(world.connection, [payerOf(2)], closeAccount(2))
    await judge()
    await world.finish(await world.restart())
    expect(await outcomesOf(signature)).toEqual(['refused'])
    expect(await outcomeOf(signature)).toBe(BACK)
    // its account stays until the payer collects, and is not signed for again meanwhile
    const { id, block } = await paymentOf(signature)
    const payment = await world.storedById(id)
    expect(await world.signer.areHeld([payment], Number(block))).toEqual([false])
  })

  it('that landed unseen is not signed for anew', async () => {
    const signature = await pay('landed', { amount: 1n })
    await judge()
    let signatures = 0
    const payer = await world.restart({
      signer: world.signerWith({
        async sign(...asked) {
          signatures += 1
          return world.signer.sign(...asked)
        },
        ...world.withoutHistory,
      }),
    })
    await payer.step()
    await expect.poll(() => outcomesOf(signature), WAIT).toEqual(['refused'])
    await world.watch()
    await world.finish(payer)
    expect(signatures).toBe(1)
    expect(await payoutOf(signature)).toMatchObject({ state: CONFIRMED })
  })

  it('is queued with its judgement, or neither is', async () => {
    const { pool } = world.bridge
    const signature = await pay('torn', { amount: 1n })
    await pool.query('ALTER TABLE jobs ADD CONSTRAINT torn CHECK (kind <> 5) NOT VALID')
    await expect(judge()).rejects.toThrow('torn')
    await pool.query('ALTER TABLE jobs DROP CONSTRAINT torn')
    expect(await outcomeOf(signature)).toBe('pending')
    expect(await judge()).toMatchObject({ kind: 'entered', payments: 1 })
    await world.finish(await world.restart())
    expect(await outcomesOf(signature)).toEqual(['refused'])
  })
})

describe('a payment that bought its name', () => {
  it('is released to its recipient once it is old enough, in SOL and in a token', async () => {
    const { pool } = world.bridge
    const before = await world.balance(payerOf(4))
    const inSol = await pay('kept')
    await mintTokens(world.connection, payerOf(3), {
      mint,
      owner: payerOf(0).publicKey,
      amount: TOKEN_PRICE,
    })
    const inTokens = await pay('kept-too', { amount: TOKEN_PRICE, inTokens: true })
    await judge()
    await world.finish(await world.restart())
    expect([await outcomesOf(inSol), await outcomesOf(inTokens)]).toEqual([[], []])
    world.bridge.aheadMs = RELEASE_AFTER_MS + 60_000
    await world.finish(await world.restart())
    expect([await outcomesOf(inSol), await outcomesOf(inTokens)]).toEqual([
      ['released'],
      ['released'],
    ])
    expect(await payoutOf(inSol)).toMatchObject({ state: CONFIRMED, reason: null })
    expect((await world.balance(payerOf(4))) - before).toBeGreaterThanOrEqual(PRICE)
    // the recipient has no account for the token: it collects
    const { number } = await paymentOf(inTokens)
    const program = createCommunityPaymentInstructions(world.registrar)
    const key = { payer: payerOf(0).publicKey, number: BigInt(number) }
    const account = await world.connection.getAccountInfo(program.paymentAccount(key), 'confirmed')
    const payment = program.decodePayment(account!.data)
    expect(payment).toMatchObject({ state: 'released', amount: TOKEN_PRICE, recipient })
    const open = createTokenAccountInstruction(recipient, recipient, mint)
    await sendSolanaTransaction(
      world.connection,
      [payerOf(4)],
      open,
      program.claim(recipient, payment),
    )
    expect(await tokensOf(4)).toBe(String(TOKEN_PRICE))
    expect(await outcomesOf(inTokens)).toEqual(['released'])
    await world.watch()
    const stored = await pool.query('SELECT outcome FROM payments WHERE tx = ANY ($1)', [
      [inSol, inTokens].map((signature) => Buffer.from(bs58.decode(signature))),
    ])
    expect(stored.rows).toEqual([{ outcome: 2 }, { outcome: 2 }])
  }, 60_000)

  it('buys nothing once its payer may take it back', async () => {
    const signature = await pay('too-late')
    const { pool, epochOf } = world.bridge
    const nowMs = () => Date.now() + 6.5 * 86_400_000
    const late = new CommunityPaymentJudge({
      pool,
      network: 'mainnet',
      ports: [],
      nowMs,
      epoch: epochOf('index')!,
    })
    expect(await late.step()).toMatchObject({ kind: 'entered', payments: 1 })
    await world.finish(await world.restart())
    expect(await outcomesOf(signature)).toEqual(['refused'])
  })
})

describe('a rewind', () => {
  it('queues refusals anew for which nothing was sent, and leaves refunds alone', async () => {
    const { bridge } = world
    await take('given')
    const given = await pay('given')
    await judge()
    await world.finish(await world.restart())
    const queued = await pay('queued', { amount: 1n })
    await judge()
    const before = await payoutOf(given)
    expect(await outcomeOf(given)).toBe(BACK)
    // a refunded payment buys nothing in a new generation, whatever its entry is worth there
    const refused = await inTransaction(bridge.pool, (client) =>
      findRefusedPaymentPositions(
        client,
        'mainnet',
        [given, queued].map((tx) => Buffer.from(bs58.decode(tx))),
      ),
    )
    expect([refused.has(await positionOf(given)), refused.has(await positionOf(queued))]).toEqual([
      true,
      false,
    ])
    const [hub] = await openChains(bridge.pool, bridge.file)
    // without an entry to leave out there would be no new generation
    const bid = { to: bridge.contracts.hub, data: placeBids(['left-out']), value: MINIMUM_WEI }
    const { blockNumber } = await waitForReceipt(
      bridge.hub.public,
      await bridge.hub.walletClient(0).sendTransaction(bid),
    )
    await bridge.hub.test.mine({ blocks: 2 })
    await bridge.index()
    const row = (await findChain(bridge.pool, 'mainnet', '1'))!
    const target = await checkRewindTarget(bridge.pool, hub!.chain, row, Number(blockNumber))
    const waiting = await bridge.pool.query(
      'UPDATE jobs SET failures = 9 WHERE kind = 5 AND state IN (0, 5)',
    )
    expect((await rewindJournal(bridge.pool, target, { apply: true })).generation).toEqual({
      from: 1,
      to: 2,
    })
    await bridge.releaseIndex()
    expect(await payoutOf(given)).toEqual(before)
    expect(await outcomeOf(queued)).toBe('invalid underpaid held')
    const fresh = await bridge.pool.query(
      'SELECT FROM jobs WHERE kind = 5 AND state = 0 AND failures = 0',
    )
    expect(fresh.rowCount).toBe(waiting.rowCount)
    await world.finish(await world.restart())
    expect([await outcomesOf(given), await outcomesOf(queued)]).toEqual([['refused'], ['refused']])
    expect(await replayJournal(bridge.pool, 'mainnet')).toSatisfy(
      ({ live, rebuilt }) => live === rebuilt,
    )
  })
})

describe('a payment that bought its name, and that another process with the key refuses', () => {
  const relay = () => keypairOfAccount(world.solana.relayAuthority)
  const ownerOf = async (name: string) => {
    const sql = 'SELECT address FROM community_names WHERE network = 0 AND name = $1'
    const { rows } = await world.bridge.pool.query<{ address: Buffer }>(sql, [name])
    return rows[0] && bs58.encode(rows[0].address.subarray(1))
  }
  const refusedNames = async () => {
    const payer = await world.restart()
    await payer.step()
    return payer.state.refusedNames
  }

  /** Refuses a payment in SOL by the key alone, and has the outcome indexed. */
  async function refuse(signature: string, by: number): Promise<void> {
    const { number, sequence } = await paymentOf(signature)
    const program = createCommunityPaymentInstructions(world.registrar)
    const counted = {
      payer: payerOf(by).publicKey,
      recipient,
      number: BigInt(number),
      sequence: BigInt(sequence),
      token: null,
    }
    const instruction = program.refuse(relay().publicKey, [counted])
    await sendSolanaTransaction(world.connection, [relay()], instruction)
    await world.watch()
  }

  it('frees the name for the next payment, and is an alarm', async () => {
    const stolen = await pay('stolen', { by: 0 })
    await judge()
    expect(await ownerOf('stolen')).toBe(payerOf(0).publicKey.toBase58())
    expect(await refusedNames(), 'refusals of ours do not count').toBe(0)

    await refuse(stolen, 0)

    expect(await outcomesOf(stolen)).toEqual(['refused'])
    expect(await refusedNames()).toBe(1)
    const first = await pay('stolen', { by: 3 })
    const second = await pay('stolen', { by: 2 })
    expect(await judge()).toMatchObject({ kind: 'entered', payments: 2 })
    expect(await outcomeOf(first)).toBe('finalized')
    expect(await outcomeOf(second)).toBe('lost_bid name_taken held')
    expect(await ownerOf('stolen')).toBe(payerOf(3).publicKey.toBase58())
    await world.finish(await world.restart())
    expect(await outcomesOf(second)).toEqual(['refused'])
    expect(await refusedNames(), 'still, though the name is another’s').toBe(1)
  })
})

async function positionOf(signature: string): Promise<string> {
  const { chain, block, sequence } = await paymentOf(signature)
  return `${chain}/${block}/${sequence}`
}

const CLOSE_ACCOUNT = 9
function closeAccount(index: number): TransactionInstruction {
  const { publicKey } = payerOf(index)
  return new TransactionInstruction({
    programId: TOKEN_PROGRAM,
    keys: [
      { pubkey: associatedTokenAddress(publicKey, mint), isSigner: false, isWritable: true },
      { pubkey: publicKey, isSigner: false, isWritable: true },
      { pubkey: publicKey, isSigner: true, isWritable: false },
    ],
    data: Buffer.of(CLOSE_ACCOUNT),
  })
}
