import type pg from 'pg'
import { createEvmChain, createEvmChainRpc, type EvmChain } from '../../chains/evm/chain.js'
import { type ChainConfig, ConfigError } from '../../config/index.js'
import { type ChainRow, findChain, unhaltChain } from '../../db/chains/chains.js'
import { rewindJournal } from '../../db/journal/rewind/index.js'
import type { FirstRowsWithCount, RewindReport } from '../../db/journal/rewind/report.js'
import { isCursorOnChain } from '../../indexer/evm/cursor.js'
import { checkRewindTarget, suggestRewindBlock } from '../../indexer/evm/rewindPoint.js'
import { withDatabasePool } from '../database.js'
import { printJson } from '../output.js'
import { type NetworkOptions, networksOfOptions, requireConfiguredChain } from '../values.js'

export interface RewindOptions extends NetworkOptions {
  chain: string
  block?: number
  yes?: boolean
  json?: boolean
}

/**
 * `clusterd journal rewind`: shows what changes if a chain's blocks are left out of the journal from the given block
 * on. With `--yes` it leaves them out, in a new generation of the network.
 * @throws Error with one sentence for invalid options or an impossible block
 */
export async function rewindChain(command: RewindOptions): Promise<void> {
  const { block, chain: label, yes } = command
  const config = requireConfiguredChain(label)
  if (!networksOfOptions(command).includes(config.network))
    throw new ConfigError(`Chain "${label}" belongs to ${config.network}.`)
  if (yes && block === undefined)
    throw new Error('--yes needs --block: a run without both names the block that will do.')
  await withChain(config, async (pool, chain, row) => {
    const at = block ?? (await suggestRewindBlock(pool, chain, row))
    if (at === null)
      throw new Error(
        'the chain has none of the blocks whose hashes are kept: name one with --block.',
      )
    const target = await checkRewindTarget(pool, chain, row, at)
    const report = await rewindJournal(pool, target, { apply: yes === true })
    if (command.json) printJson({ applied: yes === true, ...report })
    else printRewindReport(report, yes === true)
  })
}

/**
 * `clusterd journal unhalt`: resumes the indexing of a chain that was halted when its last indexed block was replaced.
 * The chain has to have this block again.
 * @throws Error with one sentence where the chain is not halted, or has another block at that height
 */
export async function unhaltChainCommand({ chain: label }: { chain: string }): Promise<void> {
  const config = requireConfiguredChain(label)
  await withChain(config, async (pool, chain, row) => {
    if (!row.halted) throw new Error(`chain "${label}" is not halted.`)
    if (!(await isCursorOnChain(chain, row)))
      throw new Error(
        `chain "${label}" shows another block ${row.nextBlock - 1}, or none: run \`clusterd journal rewind\`.`,
      )
    if (!(await unhaltChain(pool, row))) throw new Error(`chain "${label}" was rewound meanwhile.`)
    console.log(
      `chain "${label}" has block ${row.nextBlock - 1}: it is indexed again from block ${row.nextBlock} on.`,
    )
  })
}

type ChainWork = (pool: pg.Pool, chain: EvmChain, row: ChainRow) => Promise<void>

const withChain = (config: ChainConfig, work: ChainWork): Promise<void> =>
  withDatabasePool(async (pool) => {
    const { network, label } = config
    const row = await findChain(pool, network, label)
    if (!row) throw new Error(`the database knows no chain "${label}" of ${network}.`)
    await work(
      pool,
      createEvmChain({ config, chain: row.chain, rpc: createEvmChainRpc(config) }),
      row,
    )
  })

function printRewindReport(report: RewindReport, isApplied: boolean): void {
  const { network, label, block, generation, entries, events } = report
  const done = `${network}: generation ${generation.to} has begun, without the blocks of chain "${label}" from ${block} on.`
  console.log(
    isApplied
      ? done
      : `${network}: leaving out the blocks of chain "${label}" from ${block} on changes this (nothing is changed yet):`,
  )
  console.log(`  entries left out: ${entries.before - entries.after} of ${entries.before}`)
  console.log(
    `  public events: ${events.before} become ${events.after}; every reader of the feed begins anew`,
  )
  const none = 'nobody'
  printRows(
    'names that change hands',
    report.names,
    ({ name, from, to }) => `${name} (${from ?? none} to ${to ?? none})`,
  )
  printRows(
    'signed changes left without effect',
    report.withoutEffect,
    ({ seq, kind }) => `entry ${seq} (${kind})`,
  )
  printRows(
    'messages that stay, though their source is taken back',
    report.keptMessages,
    ({ guid }) => guid,
  )
  if (report.keptMessages.count > 0)
    console.log(
      '    the hub has or may have taken them: see whether the chain still has what they came from',
    )
  if (!isApplied) console.log(`To do it: the same with --block ${block} --yes`)
}

function printRows<T>(
  title: string,
  { count, first }: FirstRowsWithCount<T>,
  text: (item: T) => string,
): void {
  console.log(`  ${title}: ${count}`)
  for (const item of first) console.log(`    ${text(item)}`)
  if (count > first.length) console.log(`    … and ${count - first.length} more`)
}
