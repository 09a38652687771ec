import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { encodeFunctionData, type Hex, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { encodeHubMessage } from '../../src/chains/evm/bridge/hubMessage.js'
import { encodeLzReceiveOption } from '../../src/chains/evm/bridge/packetOptions.js'
import { createEvmChain, createEvmChainRpc } from '../../src/chains/evm/chain.js'
import { hubAbi, spokeAbi } from '../../src/chains/evm/contracts/index.js'
import { type ChainConfig, parseChainsFile } from '../../src/config/index.js'
import { type ChainRow, registerChain } from '../../src/db/chains/chains.js'
import type { Leadership } from '../../src/db/leaders/lead.js'
import { type JobRow, listJobs } from '../../src/db/outbox/rows.js'
import { createPool } from '../../src/db/pg/pool.js'
import { ChainIndexer } from '../../src/indexer/evm/chainIndexer.js'
import type { EvmJobTx } from '../../src/registry/outbox.js'
import { fromHex } from '../../src/registry/primitives/bytes.js'
import { nameToWord } from '../../src/registry/primitives/name.js'
import { EvmRelayer, type EvmRelayerOptions } from '../../src/relayer/evmRelayer.js'
import { type RelayTarget, relayPlanOf } from '../../src/relayer/targets.js'
import { startAnvil } from '../../src/testing/chains/anvil.js'
import {
  account,
  chainAt,
  deployBridge,
  deployPayments,
  HUB_CHAIN_ID,
  HUB_EID,
  MINIMUM_WEI,
  SPOKE_CHAIN_ID,
  SPOKE_EID,
} from './bridgeContracts.js'
import { takeLead } from './lead.js'
import { startMigrated } from './migrated.js'
import { allMined } from './miner.js'
import { waitForReceipt } from './receipt.js'

export { MINIMUM_WEI }

const RECEIVE_GAS = 250_000n

/** The relayer's own key, for these tests only. */
export const RELAYER_KEY: Hex = `0x${'5e'.repeat(32)}`
export const STRANGER = 7

/** A relayer that tests step by hand. */
export type SteppedRelayer = Pick<EvmRelayer, 'state' | 'step'> & { outcomes: string[] }

export type BridgeWorld = Awaited<ReturnType<typeof startBridgeWorld>>

interface SendOptions {
  amountWei?: bigint
  calldata?: Hex
}

/** `hub`: settings of the hub in the chains file that differ. */
type RestartOptions = Partial<EvmRelayerOptions> & { file?: object; hub?: object; label?: string }

/** Two anvils (automine) with hub and spoke connected, one PostgreSQL, no daemon: tests drive every step by hand. */
export async function startBridgeWorld({ payments = false } = {}) {
  const home = mkdtempSync(join(tmpdir(), 'clusterd-bridge-'))
  const [postgres, hubAnvil, spokeAnvil] = await Promise.all([
    startMigrated(join(home, 'pg')),
    startAnvil({ chainId: HUB_CHAIN_ID, logFile: join(home, 'hub.log') }),
    startAnvil({ chainId: SPOKE_CHAIN_ID, logFile: join(home, 'spoke.log') }),
  ])
  const hub = { ...chainAt(hubAnvil.rpcUrl, HUB_CHAIN_ID), anvil: hubAnvil }
  const spoke = { ...chainAt(spokeAnvil.rpcUrl, SPOKE_CHAIN_ID), anvil: spokeAnvil }
  const relayer = privateKeyToAccount(RELAYER_KEY).address
  await hub.test.setBalance({ address: relayer, value: 10n ** 22n })
  await spoke.test.setBalance({ address: relayer, value: 10n ** 22n })
  const contracts = await deployBridge(hub, spoke, relayer)
  const paid = payments
    ? await deployPayments(hub, spoke, relayer)
    : { hub: undefined, spoke: undefined }
  const pool = createPool({ url: postgres.url, max: 12, applicationName: 'test' })
  const common = { network: 'mainnet', confirmation: { blocks: 2 }, pollMs: 50, local: true }
  const file = {
    chains: [
      {
        ...common,
        label: '1',
        role: 'hub',
        chainId: HUB_CHAIN_ID,
        rpcUrls: [hubAnvil.rpcUrl],
        eid: HUB_EID,
        contract: contracts.hub,
        endpoint: contracts.hubEndpoint,
        messageLib: contracts.hubLibrary,
        ...(paid.hub && { communityPayments: paid.hub }),
      },
      {
        ...common,
        label: '8453',
        role: 'spoke',
        chainId: SPOKE_CHAIN_ID,
        rpcUrls: [spokeAnvil.rpcUrl],
        eid: SPOKE_EID,
        contract: contracts.spoke,
        endpoint: contracts.spokeEndpoint,
        ...(paid.spoke && { communityPayments: paid.spoke }),
      },
    ],
  }
  const fileWith = (of: object) => ({ chains: [{ ...file.chains[0], ...of }, file.chains[1]] })
  const leads: { index: Leadership | null; relay: Leadership | null } = { index: null, relay: null }
  let indexers: ChainIndexer[] = []

  const world = {
    hub,
    spoke,
    postgres,
    pool,
    contracts,
    /** Contracts that take payments for names of communities; undefined unless asked for. */
    payments: paid,
    /** Content of the chains file. */
    file: file as object,
    relayer,
    /** Milliseconds that the relayer's clock is ahead. */
    aheadMs: 0,
    /** Number of journal entries that the indexers' steps have reported. */
    reportedEntries: 0,
    wallet: account,
    /** Registers names from the spoke, and has its block confirmed and indexed. @returns guid of the message */
    async send(
      index: number,
      names: readonly string[],
      { amountWei = MINIMUM_WEI, calldata }: SendOptions = {},
    ): Promise<Hex> {
      const sum = calldata ? 0n : amountWei * BigInt(names.length)
      const hubCalldata = calldata ?? placeBids(names, amountWei)
      const options = encodeLzReceiveOption({
        gas: RECEIVE_GAS + 40_000n * BigInt(names.length),
        value: sum,
      })
      const sender: Hex = `0x${account(index).address.slice(2).toLowerCase().padStart(64, '0')}`
      const { nativeFee } = await spoke.public.readContract({
        address: contracts.spoke,
        abi: spokeAbi,
        functionName: 'quote',
        args: [encodeHubMessage(sender, hubCalldata), options],
      })
      const call = {
        address: contracts.spoke,
        abi: spokeAbi,
        functionName: 'lzSend',
        args: [hubCalldata, options],
        value: nativeFee,
      } as const
      const { result } = await spoke.public.simulateContract({ ...call, account: account(index) })
      const hash = await spoke.walletClient(index).writeContract(call)
      await waitForReceipt(spoke.public, hash)
      await spoke.test.mine({ blocks: 2 })
      await world.index()
      return result.guid
    },
    /** Indexes both chains up to their heads. */
    async index(): Promise<void> {
      if (!leads.index) {
        leads.index = await takeLead(pool, 'index')
        indexers = await Promise.all(
          (await openChains(pool, file)).map((open) => indexerOf(pool, open, leads.index!)),
        )
      }
      for (const indexer of indexers)
        for (let i = 0; i < 20; i++) {
          const outcome = await indexer.step()
          if (outcome.kind === 'idle') break
          if ('entries' in outcome) world.reportedEntries += outcome.entries
        }
    },
    fileWith,
    /** A relayer that leads, as after a restart. Its steps begin when the chains have mined what they were sent. */
    async restart({
      file: otherFile = {},
      hub: of = {},
      ...options
    }: RestartOptions = {}): Promise<SteppedRelayer> {
      await leads.relay?.release()
      leads.relay = await takeLead(pool, 'relay')
      const outcomes: string[] = []
      const relayer = await openRelayer(
        pool,
        { ...fileWith(of), ...otherFile },
        leads.relay.epoch,
        {
          clock: { nowMs: () => Date.now() + world.aheadMs, random: () => 0.5 },
          onOutcome: ({ kind }, outcome) => void outcomes.push(`${kind} ${outcome}`),
          ...options,
        },
      )
      return {
        state: relayer.state,
        outcomes,
        async step(alive) {
          await Promise.all([allMined(hub), allMined(spoke)])
          return relayer.step(alive)
        },
      }
    },
    /** Epoch of this process once it leads; null before. */
    epochOf: (role: 'index' | 'relay'): number | null => leads[role]?.epoch ?? null,
    /** Lets another process lead the deliveries. */
    async release(): Promise<void> {
      await leads.relay?.release()
      leads.relay = null
    },
    /** Leaves the lead of the indexing: the next `index` leads anew, as the daemon does after a rewind. */
    async releaseIndex(): Promise<void> {
      await leads.index?.release()
      leads.index = null
    },
    /** Steps until nothing more can be done without the chain. @returns the outcomes of deliveries, in order */
    async run(relayer: SteppedRelayer, { steps = 20 } = {}): Promise<string[]> {
      for (let i = 0; i < steps; i++) if ((await relayer.step()) !== 'progressed') break
      return relayer.outcomes.splice(0)
    },
    /** Mines a block on the hub and steps, until every delivery has ended. */
    async finish(relayer: SteppedRelayer): Promise<string[]> {
      const outcomes: string[] = []
      for (let i = 0; i < 30; i++) {
        outcomes.push(...(await world.run(relayer)))
        if ((await world.jobs()).every(({ state }) => state === 'confirmed' || state === 'parked'))
          return outcomes
        await hub.test.mine({ blocks: 1 })
      }
      throw new Error(`jobs did not end: ${outcomes.join(' ')}`)
    },
    jobs: async (): Promise<JobRow<EvmJobTx>[]> =>
      (
        await listJobs(pool, {
          networks: ['mainnet'],
          states: ['queued', 'signed', 'sent', 'included', 'confirmed', 'parked'],
          limit: 1_000,
        })
      )
        .filter(isOnEvm)
        .reverse(),
    /** Count of a message's executions, from the hub's logs. */
    async executions(guid: Hex): Promise<number> {
      const events = await hub.public.getContractEvents({
        address: contracts.hub,
        abi: hubAbi,
        eventName: 'Received',
        fromBlock: 0n,
      })
      return events.filter(({ args }) => args.guid === guid).length
    },
    nonce: (): Promise<number> => hub.public.getTransactionCount({ address: relayer }),
    async stop() {
      await leads.index?.release()
      await leads.relay?.release()
      await pool.end()
      await Promise.all([hubAnvil.stop(), spokeAnvil.stop(), postgres.stop()])
      rmSync(home, { recursive: true, force: true })
    },
  }
  return world
}

/** Excludes jobs on Solana, which no relayer of these worlds does. */
const isOnEvm = (job: JobRow): job is JobRow<EvmJobTx> =>
  job.kind !== 'settle' &&
  job.kind !== 'refund' &&
  !(job.kind === 'refuse' && job.payment?.blockHash === null)

export const placeBids = (names: readonly string[], amountWei = MINIMUM_WEI): Hex =>
  encodeFunctionData({
    abi: hubAbi,
    functionName: 'placeBids',
    args: [names.map(() => amountWei), names.map((name) => toHex(nameToWord(name)))],
  })

type Open = { config: ChainConfig; row: ChainRow; chain: ReturnType<typeof createEvmChain> }

/** Opens the chains of a chains file, as the daemon does. */
export async function openChains(pool: pg.Pool, file: object): Promise<Open[]> {
  const open: Open[] = []
  for (const config of parseChainsFile(file, 'test').chains) {
    const rpc = createEvmChainRpc(config)
    const row = await registerChain(pool, {
      network: config.network,
      label: config.label,
      instance: '',
      family: 'evm',
      chainId: config.chainId,
      contract: fromHex(config.contract),
      startBlock: config.startBlock,
      genesisHash: fromHex(await rpc.genesisHash()),
    })
    open.push({ config, row, chain: createEvmChain({ config, chain: row.chain, rpc }) })
  }
  return open
}

/** A relayer on a chain of a chains file, the hub unless named, with the tests' key. */
export async function openRelayer(
  pool: pg.Pool,
  file: object,
  epoch: number,
  { label = '1', ...options }: Partial<EvmRelayerOptions> & { label?: string } = {},
): Promise<EvmRelayer> {
  const target = targetOf(await openChains(pool, file), label)
  const settings = parseChainsFile(file, 'test').deliveries.mainnet
  const payer = privateKeyToAccount(RELAYER_KEY)
  return new EvmRelayer({
    pool,
    network: 'mainnet',
    ...target,
    account: payer,
    settings,
    epoch,
    ...options,
  })
}

/** The relayer's target on a chain of a chains file. */
export function targetOf(open: readonly Open[], label: string): RelayTarget {
  const { targets, problem } = relayPlanOf(open.map(({ chain }) => chain))
  const target = targets.find(({ at }) => at.label === label)
  if (problem || !target) throw new Error(problem ?? `there is nothing to do on chain "${label}"`)
  return target
}

const indexerOf = (pool: pg.Pool, { row, chain }: Open, { epoch }: Leadership): ChainIndexer =>
  new ChainIndexer({ pool, chain, row, epoch, signal: new AbortController().signal })
