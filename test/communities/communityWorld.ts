import {
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  parseEventLogs,
  type TransactionReceipt,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import {
  testTokenAbi,
  testTokenBytecode,
} from '../../contracts/evm/artifacts/test-doubles/TestToken.js'
import { cacheReleaseSignatures, communityPayouts } from '../../src/api/communities/payouts.js'
import { createRequestContexts } from '../../src/api/http/context.js'
import type { TxStatus } from '../../src/api/status/decide.js'
import { evmTxStatus } from '../../src/api/status/evm.js'
import { ChainUnavailableError, type CommunityPaymentRequest } from '../../src/chains/chain.js'
import { contractPaymentStruct } from '../../src/chains/evm/community/ending.js'
import { communityPaymentsAbi } from '../../src/chains/evm/contracts/index.js'
import type { TokenBalancePort } from '../../src/chains/requirementInputs.js'
import { appendSignedChanges } from '../../src/db/journal/appendSignedChanges.js'
import { PAYMENT_COLUMNS, type PaymentRow, paymentFromRow } from '../../src/db/payments/rows.js'
import { query } from '../../src/db/pg/rows.js'
import {
  CommunityPaymentJudge,
  type CommunityPaymentJudgeOptions,
  type CommunityPaymentJudgeStepOutcome,
} from '../../src/indexer/judge.js'
import { paymentReleaseTypedData } from '../../src/registry/community/release.js'
import {
  type CommunityRules,
  communityRulesInputCodec,
} from '../../src/registry/community/rules.js'
import type { CommunityNameTarget, StoredPayment } from '../../src/registry/payment/payment.js'
import { fromHex } from '../../src/registry/primitives/bytes.js'
import {
  MINIMUM_WEI,
  openChains,
  placeBids,
  RELAYER_KEY,
  startBridgeWorld,
} from '../support/bridgeWorld.js'
import { waitForReceipt } from '../support/receipt.js'

export type Label = '1' | '8453'

/** Fields of a payment that differ from the default: the first price of its chain. */
export interface Pay {
  on?: Label
  /** Index of the payer's account. */
  by?: number
  community?: string
  name: string
  token?: string
  amount?: bigint
  recipient?: string
}

export type CommunityWorld = Awaited<ReturnType<typeof startCommunityWorld>>

/** Starts hub and spoke with payments contracts, without a daemon. Account 0 holds the requested communities. */
export async function startCommunityWorld(communities: readonly string[]) {
  const world = await startBridgeWorld({ payments: true })
  const { pool } = world
  const open = await openChains(pool, world.file)
  const chains = open.map(({ chain }) => chain)
  const config = { serviceDomain: 'localhost', tokenKey: Buffer.alloc(32, 7) }
  const signedWords: string[] = []
  const releaseSigner = cacheReleaseSignatures((word) => {
    signedWords.push(word.paymentIds.map((id) => id.toString('hex')).join())
    return privateKeyToAccount(RELAYER_KEY).signTypedData(paymentReleaseTypedData(word))
  })
  const { mainnet: context } = createRequestContexts({ pool, chains, config })
  const sideOf = (label: Label) => (label === '1' ? world.hub : world.spoke)
  const portOf = (label: Label) => chains.find((chain) => chain.label === label)!
  const paymentsOn = (label: Label): Hex => world.payments[label === '1' ? 'hub' : 'spoke']!
  const treasury = world.wallet(8).address.toLowerCase() as Hex

  await world.hub.walletClient(0).sendTransaction({
    to: world.contracts.hub,
    data: placeBids(communities),
    value: MINIMUM_WEI * BigInt(communities.length),
  })
  await world.hub.test.mine({ blocks: 3 })
  await world.spoke.test.mine({ blocks: 3 })
  await world.index()

  const price = (network: Label, amount: bigint, token = 'native') => ({
    network,
    token,
    amount: String(amount),
    recipient: treasury,
  })
  async function configure(community: string, rules: object): Promise<CommunityRules> {
    const parsed = communityRulesInputCodec.parse(rules)
    const change = { kind: 'configure_community', actor: null, community, rules: parsed } as const
    const made = await appendSignedChanges(pool, { network: 'mainnet', changes: [change] })
    if (made.kind !== 'made') throw new Error(JSON.stringify(made))
    return parsed
  }

  async function deployToken(on: Label = '1'): Promise<Hex> {
    const data = encodeDeployData({ abi: testTokenAbi, bytecode: testTokenBytecode })
    const hash = await sideOf(on).walletClient(9).sendTransaction({ data })
    return (await mined(on, hash)).contractAddress!.toLowerCase() as Hex
  }
  const tokenCall = async (on: Label, token: Hex, data: Hex) =>
    mined(on, await sideOf(on).walletClient(9).sendTransaction({ to: token, data }))
  const mint = (token: Hex, to: number, amount: bigint, on: Label = '1') =>
    tokenCall(
      on,
      token,
      encodeFunctionData({
        abi: testTokenAbi,
        functionName: 'mint',
        args: [world.wallet(to).address, amount],
      }),
    )

  const mined = (on: Label, hash: Hex): Promise<TransactionReceipt> =>
    waitForReceipt(sideOf(on).public, hash)

  const requestOf = ({
    on = '1',
    by = 1,
    community = 'club',
    name,
    ...rest
  }: Pay): CommunityPaymentRequest => {
    const { token = 'native', amount = 1_000n, recipient = treasury } = rest
    const payer = world.wallet(by).address.toLowerCase()
    return {
      community,
      name,
      payer,
      referral: null,
      price: { network: on, token, amount, recipient },
    }
  }
  const quote = (pay: Pay) => portOf(pay.on ?? '1').communityPayment(requestOf(pay))

  /**
   * Sends the transactions of a payment, approvals first. With a fixed gas limit, so that reverting calls are mined
   * too.
   */
  async function pay(what: Pay): Promise<{ tx: Hex; id: Hex | null }> {
    const { on = '1', by = 1 } = what
    const { type: _, approval, approvalReset, ...payment } = await quote(what)
    const wallet = sideOf(on).walletClient(by)
    for (const first of [approvalReset, approval])
      if (first) await mined(on, await wallet.sendTransaction(first))
    const receipt = await mined(on, await wallet.sendTransaction({ ...payment, gas: 500_000n }))
    return { tx: receipt.transactionHash, id: idOf(receipt) }
  }

  /** Mines two blocks on top of a payment and indexes them, which confirms it. */
  async function confirm(): Promise<void> {
    for (const side of [world.hub, world.spoke]) await side.test.mine({ blocks: 2 })
    await world.index()
  }

  const judgeOf = (options: Partial<CommunityPaymentJudgeOptions> = {}): CommunityPaymentJudge =>
    new CommunityPaymentJudge({
      pool,
      network: 'mainnet',
      epoch: world.epochOf('index')!,
      ports: chains,
      ...options,
    })

  /** Runs the judge over confirmed payments, as the index leader does. */
  async function judge(): Promise<CommunityPaymentJudgeStepOutcome> {
    await confirm()
    return judgeOf().step()
  }

  /** Runs the relayers of both chains until nothing is pending. @param payments settings of `payments` */
  async function giveBack(
    payments: { releaseAfterMs?: number; refusalWorth?: number } = {},
    hub: { rpcUrls?: readonly string[] } = {},
  ): Promise<void> {
    for (const label of ['1', '8453'] as const) {
      const relayer = await world.restart({ label, hub, file: { payments } })
      for (let i = 0; i < 20 && (await world.run(relayer)); i++) {
        await sideOf(label).test.mine({ blocks: 1 })
        if ((await relayer.step()) === 'idle') break
      }
    }
    await world.index()
  }

  /** Credit that a payer may withdraw. */
  const creditOf = (by: number, token: Hex = NATIVE, on: Label = '1'): Promise<bigint> =>
    sideOf(on).public.readContract({
      address: paymentsOn(on),
      abi: communityPaymentsAbi,
      functionName: 'creditOf',
      args: [world.wallet(by).address, token],
    })

  /** Ids of payments with an outcome, by the contract's logs. */
  async function ended(
    eventName: 'Refused' | 'Released' | 'Reclaimed',
    on: Label = '1',
  ): Promise<Hex[]> {
    const at = { address: paymentsOn(on), abi: communityPaymentsAbi, fromBlock: 0n } as const
    const events = await sideOf(on).public.getContractEvents({ ...at, eventName })
    return events.map(({ args }) => args.paymentId!)
  }
  const refusals = (on: Label = '1') => ended('Refused', on)

  /** Sends a call to the payments contract, which has to succeed. */
  async function call(by: number, data: Hex, on: Label = '1'): Promise<void> {
    const hash = await sideOf(on)
      .walletClient(by)
      .sendTransaction({ to: paymentsOn(on), data })
    if ((await mined(on, hash)).status !== 'success')
      throw new Error(`${data.slice(0, 10)} reverted`)
  }

  /** Payments by id, as the contract's struct. */
  async function structsOf(...ids: Hex[]) {
    const text = `SELECT ${PAYMENT_COLUMNS} FROM payments p WHERE p.network = $1 AND p.id = ANY ($2::bytea[])`
    const rows = await query<PaymentRow>(pool, 'mainnet', text, [ids.map(fromHex)])
    return rows.map((row) =>
      contractPaymentStruct(paymentFromRow(row) as StoredPayment<CommunityNameTarget>),
    )
  }

  const ownerOf = async (community: string, name: string): Promise<string | null> => {
    const { rows } = await pool.query<{ address: Buffer }>(
      'SELECT address FROM community_names WHERE network = 0 AND community = $1 AND name = $2',
      [community, name],
    )
    return rows[0] ? `0x${rows[0].address.subarray(1).toString('hex')}` : null
  }
  const addressOf = (by: number): string => world.wallet(by).address.toLowerCase()
  const status = (tx: Hex): Promise<TxStatus> => evmTxStatus(context, tx)

  /** The API's answer for a transaction: status, reason, refund and, if requested, payout. */
  async function outcomeOf(tx: Hex, { withPayout = false } = {}): Promise<string> {
    const { status: is, reason, refund, payout } = await status(tx)
    return [is, reason, refund, withPayout ? payout : undefined]
      .filter((part) => part !== undefined)
      .join(' ')
  }
  /**
   * Advances both chains and the clocks of their relayers, by enough to pass the minutes that a busy chain's clock is
   * ahead.
   */
  async function pass(days: number): Promise<void> {
    for (const side of [world.hub, world.spoke]) {
      await side.test.increaseTime({ seconds: days * DAY_S })
      await side.test.mine({ blocks: 1 })
    }
    world.aheadMs += days * DAY_S * 1_000 + 600_000
  }
  /** Reclaims a payment as its payer, once the contract allows it. */
  async function reclaim(by: number, id: Hex | null): Promise<void> {
    const args = [await structsOf(id!)] as const
    await call(by, encodeFunctionData({ abi: communityPaymentsAbi, functionName: 'reclaim', args }))
    await confirm()
  }

  /** Ends a payment with the relayer's key, but not by the service's relayer. */
  async function endByKey(decision: 'refuse' | 'release', id: Hex | null): Promise<void> {
    const { test, public: client } = world.hub
    await test.impersonateAccount({ address: world.relayer })
    const args = [await structsOf(id!)] as const
    const data = encodeFunctionData({
      abi: communityPaymentsAbi,
      functionName: decision,
      args,
    })
    const hash = (await (client.request as (call: object) => Promise<unknown>)({
      method: 'eth_sendTransaction',
      params: [{ from: world.relayer, to: paymentsOn('1'), data }],
    })) as Hex
    if ((await mined('1', hash)).status !== 'success') throw new Error(`${decision} reverted`)
    await confirm()
  }

  return {
    outcomeOf,
    pass,
    reclaim,
    endByKey,
    world,
    pool,
    chains,
    treasury,
    portOf,
    sideOf,
    paymentsOn,
    price,
    configure,
    deployToken,
    tokenCall,
    mint,
    quote,
    pay,
    confirm,
    judgeOf,
    judge,
    giveBack,
    creditOf,
    refusals,
    ended,
    call,
    structsOf,
    context,
    signedWords,
    payouts: async (community: string) =>
      (await communityPayouts(context, community, releaseSigner)).payouts,
    ownerOf,
    addressOf,
    status,
    stop: world.stop,
  }
}

const DAY_S = 86_400

/** A chain that can't be asked for balances. */
export const AWAY: TokenBalancePort = {
  label: '8453',
  tokenBalance: async () => Promise.reject(new ChainUnavailableError('away')),
}

export const NATIVE: Hex = `0x${'00'.repeat(20)}`

/** The payments contract's id of a transaction's payment. Null where it made none. */
function idOf({ logs }: TransactionReceipt): Hex | null {
  const [held] = parseEventLogs({ abi: communityPaymentsAbi, eventName: 'Held', logs })
  return held?.args.paymentId ?? null
}
