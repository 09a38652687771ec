import { createReadStream, existsSync } from 'node:fs'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type pg from 'pg'
import { ChainUnavailableError } from '../chains/chain.js'
import { createChainRpc, createEvmChain } from '../chains/evm/chain.js'
import { readChains, readEnvironment } from '../config/index.js'
import { proveNames } from '../daemon/replica.js'
import { readLeaders } from '../db/deployment/leaders.js'
import { beginImport, type FeedImport } from '../db/journal/replica/import.js'
import { readReplicas } from '../db/journal/replica/replica.js'
import { migrate } from '../db/pg/migrate.js'
import { createPool, inTransaction } from '../db/pg/pool.js'
import { isUniqueViolation } from '../db/pg/unavailable.js'
import { toHex } from '../registry/primitives/bytes.js'
import { withDatabase } from './database.js'

/** An event has some 400 characters. */
const LONGEST_LINE = 4_096
/** Characters of an error about a line, which may repeat what the line says. */
const LONGEST_CAUSE = 200
/** Bytes that are unpacked at once. */
const UNPACKED_AT_ONCE = 65_536
/** Time for which whoever gives the file may be silent. */
const SILENT_MS = 60_000

/**
 * `clusterd import`: fills an empty database with the public feed of another service, or brings one up to date that was
 * filled so. All of it or, when anything fails, nothing.
 * @param source URL or path of a file of `clusterd journal export`
 * @throws Error with one sentence, which names the line, or the name, at fault
 */
export const importFeed = (
  source: string,
  { checkpoint = [], silentMs = SILENT_MS }: { checkpoint?: readonly string[]; silentMs?: number },
): Promise<void> =>
  withDatabase(async (url) => {
    await migrate(url)
    const pool = createPool({
      url,
      max: 2,
      applicationName: 'clusterd import',
      idleTransactionMs: SILENT_MS,
    })
    try {
      if ((await readLeaders(pool)).length > 0)
        throw new Error('a daemon indexes into this database: stop it first.')
      await inTransaction(pool, (client) => takeIn(client, { source, silentMs }, checkpoint)).catch(
        (error) => {
          throw isUniqueViolation(error)
            ? new Error(`the file has something twice: ${error.detail}`)
            : error
        },
      )
      await prove(pool)
      for (const [network, block] of await readReplicas(pool))
        console.log(
          `${network}: ${block > 0 ? `proved by the hub's block ${block}` : 'not proved by the hub yet'}`,
        )
    } finally {
      await pool.end()
    }
  })

async function takeIn(
  client: pg.ClientBase,
  { source, silentMs }: { source: string; silentMs: number },
  expected: readonly string[],
): Promise<void> {
  let feed = null as FeedImport | null
  let line = 0
  const end = async () => {
    if (!feed) return
    const { network, added, count, generation, hash } = await feed.end()
    console.log(
      `${network}: ${added} of ${count} events of feed ${generation} are new, checkpoint ${toHex(hash)}`,
    )
    if (expected.length > 0 && !expected.includes(toHex(hash)))
      throw new Error('that is not the checkpoint expected.')
  }
  const silent = new Error(`${source} was silent for ${silentMs / 1_000} s.`)
  const packed = await open(source, silentMs).catch((error) => {
    throw error.name === 'TimeoutError' ? silent : error
  })
  // a pipeline would tell that the rest was aborted, and not why
  const bytes = packed.pipe(createGunzip({ chunkSize: UNPACKED_AT_ONCE }))
  packed.on('error', (error) => bytes.destroy(error))
  let rest = ''
  try {
    const ended = () => void packed.destroy(silent)
    for await (const chunk of unlessSilent<Buffer>(bytes, silentMs, ended)) {
      const lines = (rest + chunk.toString('latin1')).split('\n')
      rest = lines.pop()!
      if (rest.length > LONGEST_LINE)
        throw new Error(`line ${line + lines.length + 1} is too long.`)
      for (const text of lines) {
        line += 1
        const network = text.startsWith('{"id":"t-') ? 'testnet' : 'mainnet'
        if (feed?.network !== network) {
          await end()
          feed = await beginImport(client, network)
        }
        try {
          feed.take(text)
        } catch (error) {
          throw new Error(`line ${line}: ${(error as Error).message.slice(0, LONGEST_CAUSE)}.`)
        }
      }
      await feed?.flush()
    }
  } finally {
    packed.destroy()
  }
  if (rest !== '' || !feed)
    throw new Error(feed ? 'the file ends within a line.' : 'the file has no events.')
  await end()
}

/** A server sent nothing for longer than its limit. */
class TimeoutError extends Error {
  override name = 'TimeoutError'
}

/** @throws TimeoutError where the server sends no head in time */
async function open(source: string, silentMs: number): Promise<Readable> {
  if (!/^https?:\/\//.test(source)) return createReadStream(source)
  const unanswered = new AbortController()
  const timer = setTimeout(() => unanswered.abort(new TimeoutError('no answer')), silentMs)
  try {
    const { ok, status, body } = await fetch(source, { signal: unanswered.signal })
    if (!ok || !body) throw new Error(`${source} answers with status ${status}.`)
    return Readable.fromWeb(body)
  } finally {
    clearTimeout(timer)
  }
}

/** Chunks as they come; `end` is called where the next one takes longer. */
async function* unlessSilent<T>(
  chunks: AsyncIterable<T>,
  silentMs: number,
  end: () => void,
): AsyncGenerator<T> {
  let timer = setTimeout(end, silentMs)
  try {
    for await (const chunk of chunks) {
      clearTimeout(timer)
      yield chunk
      timer = setTimeout(end, silentMs)
    }
  } finally {
    clearTimeout(timer)
  }
}

/** Proves what is imported by the hubs of the chains file, where there is one and they answer. */
async function prove(pool: pg.Pool): Promise<void> {
  const { chainsFile } = readEnvironment()
  const chains = existsSync(chainsFile) ? readChains(chainsFile).chains : []
  for (const config of chains.filter(({ role }) => role === 'hub')) {
    const hub = createEvmChain({ config, chain: 0, rpc: createChainRpc(config) })
    await proveNames(pool, hub).catch((error) => {
      if (!(error instanceof ChainUnavailableError)) throw error
    })
  }
}
