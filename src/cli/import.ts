import { createReadStream, existsSync } from 'node:fs'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type pg from 'pg'
import { ChainUnavailableError } from '../chains/chain.js'
import { createChainRpc, createEvmChain } from '../chains/evm/chain.js'
import { readChains, readEnvironment } from '../config/index.js'
import { FeedImport, type Imported } from '../db/journal/replica/import.js'
import { readReplicas } from '../db/journal/replica/replica.js'
import { migrate } from '../db/pg/migrate.js'
import { createPool, inTransaction } from '../db/pg/pool.js'
import { toHex } from '../registry/primitives/bytes.js'
import type { Network } from '../registry/primitives/network.js'
import { proveNames } from '../replica.js'
import { withDatabase } from './database.js'
import { printJson } from './output.js'

type Result = Omit<Imported, 'hash'> & { checkpoint: string; provedBlock: number | null }

export interface ImportOptions {
  /** Hashes over the feeds that are expected, hex. */
  checkpoint?: readonly string[]
  json?: boolean
}

/** An event has some 400 characters. */
const LONGEST_LINE = 4_096
/** Bytes that are unpacked at once. */
const UNPACKED_AT_ONCE = 65_536
/** Time for which whoever gives the file may be silent. */
const SILENT_MS = 60_000

/**
 * `clusterd import`: fills an empty database with the public feed of another service, or brings one up to date that was
 * filled so. All of it or, when anything fails, nothing.
 * @param source URL or path of a file of `clusterd journal export`
 * @throws Error with one sentence, which names the line at fault
 */
export async function importFeed(source: string, { checkpoint = [], json }: ImportOptions): Promise<void> {
  await withDatabase(async (url) => {
    await migrate(url)
    const pool = createPool({ url, max: 2, applicationName: 'clusterd import', idleTransactionMs: SILENT_MS })
    try {
      const imported = await inTransaction(pool, (client) => takeIn(client, source, checkpoint))
      const proved = await prove(pool)
      const results = imported.map(({ hash, ...one }) => {
        return { ...one, checkpoint: toHex(hash), provedBlock: proved.get(one.network) ?? null }
      })
      if (json) printJson({ networks: results })
      else results.forEach(print)
    } finally {
      await pool.end()
    }
  })
}

function print({ network, generation, count, added, checkpoint, provedBlock }: Result): void {
  const trust = provedBlock === null ? 'taken from its service, not proved yet' : `proved at block ${provedBlock}`
  console.log(`${network}: ${added} of ${count} events of feed ${generation} are new, checkpoint ${checkpoint}`)
  console.log(`${network}: the owners of its names are ${trust}`)
}

async function takeIn(client: pg.ClientBase, source: string, expected: readonly string[]): Promise<Imported[]> {
  const imported: Imported[] = []
  let at = null as { network: Network; feed: FeedImport } | null
  let line = 0
  const end = async () => {
    if (at) imported.push(await at.feed.end())
  }
  const feedOf = async (network: Network) => {
    await end()
    at = { network, feed: await FeedImport.begin(client, network) }
    return at
  }
  const packed = await open(source)
  // a pipeline would tell that the rest was aborted, and not why
  const bytes = packed.pipe(createGunzip({ chunkSize: UNPACKED_AT_ONCE }))
  packed.on('error', (error) => bytes.destroy(error))
  let rest = ''
  try {
    for await (const chunk of bytes) {
      const lines = (rest + chunk.toString('latin1')).split('\n')
      rest = lines.pop()!
      if (rest.length > LONGEST_LINE) throw new Error(`line ${line + lines.length + 1} is too long.`)
      for (const text of lines) {
        line += 1
        const network = text.startsWith('{"id":"t-') ? 'testnet' : 'mainnet'
        const { feed } = at?.network === network ? at : await feedOf(network)
        try {
          feed.take(text)
        } catch (error) {
          throw new Error(`line ${line}: ${(error as Error).message}.`)
        }
      }
      await at?.feed.flush()
    }
  } finally {
    packed.destroy()
  }
  if (rest !== '') throw new Error('the file ends within a line.')
  await end()
  if (imported.length === 0) throw new Error('the file has no event.')
  const wrong = imported.find(({ hash }) => expected.length > 0 && !expected.includes(toHex(hash)))
  if (wrong) throw new Error(`the events of ${wrong.network} make ${toHex(wrong.hash)}, and not the checkpoint.`)
  return imported
}

async function open(source: string): Promise<Readable> {
  if (!/^https?:\/\//.test(source)) return createReadStream(source)
  const { ok, status, body } = await fetch(source)
  if (!ok || !body) throw new Error(`${source} answers with status ${status}.`)
  return Readable.fromWeb(body)
}

/** Proves what is imported and not proved yet, by the hubs of the chains file; nothing where there is none. */
async function prove(pool: pg.Pool): Promise<Map<Network, number>> {
  const replicas = await readReplicas(pool)
  const { chainsFile } = readEnvironment()
  if (existsSync(chainsFile))
    for (const config of readChains(chainsFile).chains) {
      if (config.role !== 'hub' || replicas.get(config.network) !== 0) continue
      const hub = createEvmChain({ config, chain: 0, rpc: createChainRpc(config) })
      try {
        replicas.set(config.network, await proveNames(pool, hub))
      } catch (error) {
        if (!(error instanceof ChainUnavailableError)) throw error
      }
    }
  return new Map([...replicas].filter(([, block]) => block > 0))
}
