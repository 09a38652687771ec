import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { environmentWith } from '../../config/index.js'

/** A program that restores a dump, and its arguments but for the database. */
export interface Restorer {
  program: 'pg_restore' | 'psql'
  args: readonly string[]
}

const BEGINNING_BYTES = 4_096
/** `ustar` stands there in an archive of tar. */
const TAR_MAGIC_AT = 257
/** Two empty blocks end an archive of tar (POSIX). */
const TAR_END = '\0'.repeat(1_024)
const PLAIN_BEGINS = '-- PostgreSQL database dump'
const PLAIN_ENDS = '-- PostgreSQL database dump complete'

/** What `--create` writes, of pg_dump and of pg_dumpall, before any table: psql leaves the scratch database. */
const LEAVES = /^(?:(?:CREATE|DROP) DATABASE|\\connect) .*/m

/**
 * The program for a dump, by its form: custom, directory and tar have their tables of contents; a plain dump is a script.
 * @throws Error for anything else, for an archive of tar or a plain dump that is cut off, and for a plain dump that names
 *   its database
 */
export async function restorerOf(dump: string): Promise<Restorer> {
  const restore: Restorer = {
    program: 'pg_restore',
    args: ['--no-owner', '--no-privileges', '--exit-on-error', '--', dump],
  }
  if (existsSync(join(dump, 'toc.dat'))) return restore
  const { beginning, end } = await endsOf(dump)
  if (beginning.startsWith('PGDMP')) return restore
  const isTar = beginning.startsWith('ustar', TAR_MAGIC_AT)
  if (!isTar && !beginning.includes(PLAIN_BEGINS))
    throw new Error(
      `${dump} is no dump of pg_dump (custom, directory, tar or plain): decrypt and unpack it first.`,
    )
  // neither pg_restore nor psql notices an end that is missing
  if (isTar ? !end.endsWith(TAR_END) : !end.includes(PLAIN_ENDS))
    throw new Error(`${dump} is cut off: it does not end as a whole dump does.`)
  if (isTar) return restore
  const [leaves] = LEAVES.exec(beginning) ?? []
  if (leaves)
    throw new Error(
      `${dump} was made with --create (${leaves.slice(0, LONGEST_ERROR)}): psql changes the database that it names. Dump without --create, or in the form custom.`,
    )
  return { program: 'psql', args: ['-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', dump] }
}

async function endsOf(path: string): Promise<{ beginning: string; end: string }> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const read = async (position: number): Promise<string> => {
      const { buffer, bytesRead } = await file.read(
        Buffer.alloc(BEGINNING_BYTES),
        0,
        BEGINNING_BYTES,
        position,
      )
      return buffer.toString('latin1', 0, bytesRead)
    }
    return { beginning: await read(0), end: await read(Math.max(0, size - BEGINNING_BYTES)) }
  } finally {
    await file.close()
  }
}

/** Parameters of a URL that PostgreSQL's own programs know as the driver does. */
const SHARED_PARAMETERS = ['host', 'port', 'user', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey']
const LONGEST_ERROR = 300

/**
 * Runs a restorer on a database. The password goes through the environment: everybody on the machine sees arguments.
 * @param signal ends the program
 * @throws Error with the program's first error, or where it is not installed
 */
export async function restore(
  { program, args }: Restorer,
  url: string,
  signal: AbortSignal,
): Promise<void> {
  const target = new URL(url)
  const password = target.searchParams.get('password') ?? decodeURIComponent(target.password)
  target.password = ''
  for (const name of [...target.searchParams.keys()])
    if (!SHARED_PARAMETERS.includes(name)) target.searchParams.delete(name)
  // the driver's word for encryption without a check
  if (target.searchParams.get('sslmode') === 'no-verify')
    target.searchParams.set('sslmode', 'require')
  const env = environmentWith(password === '' ? {} : { PGPASSWORD: password })
  const child = spawn(program, ['-d', target.href, ...args], {
    env,
    signal,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (chunk) => {
    said += chunk
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'ENOENT' ? missing(program) : error)
    })
    child.on('close', resolve)
  })
  if (code === 0) return
  // the lines behind the first error show rows
  const [error = said] = /^.*\berror: .*$/im.exec(said) ?? []
  throw new Error(`the dump can not be restored: ${error.trim().slice(0, LONGEST_ERROR)}`)
}

const missing = (program: string): Error =>
  new Error(
    `${program} is not installed: install PostgreSQL's client programs, of the server's version or newer (Debian: postgresql-client).`,
  )
