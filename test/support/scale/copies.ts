import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { PARTITION_ENTRIES } from '../../../src/db/journal/partitions.js'
import { CHUNK_BYTES, CopyBuffer, type CopyPart } from '../../../src/db/pg/copy.js'
import { leaf, type PartitionedTable, type StateTable } from '../../../src/db/pg/partitions.js'
import { NETWORK_CODE, type Network } from '../../../src/registry/primitives/network.js'

/**
 * Tables of a new database, filled each by one long COPY on a connection of its own. A table takes the place of the
 * empty partition that the migrations made and gets its indexes when it is attached.
 */

/** Rows on their way into a table. */
class Copy {
  readonly #rows = new CopyBuffer()
  readonly #stream: ReturnType<typeof copyFrom>
  readonly #done: Promise<void>

  /** @param target table and columns; the table was made in the client's transaction */
  constructor(client: pg.Client, target: string) {
    this.#stream = client.query(copyFrom(`COPY ${target} FROM STDIN (FORMAT binary, FREEZE)`))
    this.#done = new Promise((done, fail) => {
      this.#stream.on('finish', done).on('error', fail)
    })
    // thrown by the next write or by the end
    this.#done.catch(() => {})
  }

  async add(part: CopyPart, from: number, end: number): Promise<void> {
    for (let at = from; at < end; at++) {
      part.encode(this.#rows, at)
      if (this.#rows.bytes >= CHUNK_BYTES) await this.#write(this.#rows.take())
    }
  }

  async end(): Promise<void> {
    await this.#write(this.#rows.finish())
    this.#stream.end()
    await this.#done
  }

  async #write(bytes: Buffer): Promise<void> {
    if (this.#stream.write(bytes)) return
    await Promise.race([new Promise((go) => this.#stream.once('drain', go)), this.#done])
  }
}

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  await client.query(`SET maintenance_work_mem = '1GB'`)
  return client
}

/** Makes a partition without indexes, of whose rows a constraint says where they belong. */
async function makeBare(client: pg.Client, name: string, of: PartitionedTable, belongs: string): Promise<void> {
  await client.query(`CREATE TABLE ${name} (LIKE ${of} INCLUDING DEFAULTS, CONSTRAINT belongs CHECK (${belongs}))`)
}

/** Attaches a filled partition, which builds the indexes of its parent. */
async function attach(client: pg.Client, parent: string, name: string, bounds: string): Promise<void> {
  await client.query(`ALTER TABLE ${parent} ATTACH PARTITION ${name} FOR VALUES ${bounds}`)
  await client.query(`ALTER TABLE ${name} DROP CONSTRAINT belongs`)
}

/** Fills a network's partition of a table of the state. */
export class TableCopy {
  readonly #name: string
  readonly #code: number
  #open: Promise<{ client: pg.Client; copy: Copy }> | null = null

  constructor(
    readonly databaseUrl: string,
    readonly table: StateTable,
    network: Network,
  ) {
    this.#name = leaf(table, network)
    this.#code = NETWORK_CODE[network]
  }

  async add(part: CopyPart): Promise<void> {
    this.#open ??= this.#begin(part.target)
    await (await this.#open).copy.add(part, 0, part.rows)
  }

  /** Ends the rows and builds the indexes. */
  async end(): Promise<void> {
    if (!this.#open) return
    const { client, copy } = await this.#open
    await copy.end()
    await attach(client, this.table, this.#name, `IN (${this.#code})`)
    await client.query('COMMIT')
    await client.end()
  }

  async #begin(target: string): Promise<{ client: pg.Client; copy: Copy }> {
    const client = await connect(this.databaseUrl)
    await client.query('BEGIN')
    await client.query(`DROP TABLE ${this.#name}`)
    await makeBare(client, this.#name, this.table, `network = ${this.#code}`)
    return { client, copy: new Copy(client, target) }
  }
}

/** Fills a network's journal, partition after partition. */
export class JournalCopy {
  readonly #journal: string
  readonly #code: number
  #client: pg.Client | null = null
  #copy: Copy | null = null
  #partition = -1

  constructor(
    readonly databaseUrl: string,
    network: Network,
  ) {
    this.#journal = leaf('journal', network)
    this.#code = NETWORK_CODE[network]
  }

  /** @param firstSeq number of the part's first entry; those of the others follow */
  async add(part: CopyPart, firstSeq: number): Promise<void> {
    for (let at = 0; at < part.rows; ) {
      const partition = Math.floor((firstSeq + at) / PARTITION_ENTRIES)
      if (partition !== this.#partition) await this.#begin(partition, part.target)
      const end = Math.min(part.rows, (partition + 1) * PARTITION_ENTRIES - firstSeq)
      await this.#copy!.add(part, at, end)
      at = end
    }
  }

  /** Ends the rows, builds the indexes, and makes the partition after the last, as the indexer does. */
  async end(): Promise<void> {
    const client = this.#client!
    await this.#copy!.end()
    await this.#make(this.#partition + 1)
    for (let number = 0; number <= this.#partition + 1; number++) {
      const name = `${this.#journal}_${number}`
      const [from, to] = boundsOf(number)
      await attach(client, this.#journal, name, `FROM (${from}) TO (${to})`)
      const columns = 'network, generation, chain, block, log_index'
      await client.query(`CREATE UNIQUE INDEX ${name}_position_key ON ${name} (${columns}) WHERE chain IS NOT NULL`)
    }
    await client.query('COMMIT')
    await client.end()
  }

  async #begin(partition: number, target: string): Promise<void> {
    if (this.#client) await this.#copy!.end()
    else {
      this.#client = await connect(this.databaseUrl)
      await this.#client.query('BEGIN')
      // those that the migrations made
      for (const number of [0, 1]) await this.#client.query(`DROP TABLE ${this.#journal}_${number}`)
    }
    this.#partition = partition
    await this.#make(partition)
    this.#copy = new Copy(this.#client, target.replace(this.#journal, `${this.#journal}_${partition}`))
  }

  async #make(number: number): Promise<void> {
    const [from, to] = boundsOf(number)
    const belongs = `network = ${this.#code} AND seq >= ${from} AND seq < ${to}`
    await makeBare(this.#client!, `${this.#journal}_${number}`, 'journal', belongs)
  }
}

const boundsOf = (partition: number): [from: number, to: number] => [
  partition * PARTITION_ENTRIES,
  (partition + 1) * PARTITION_ENTRIES,
]
