import { spawn } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { environmentWithVariables } from '../../config/index.js'

/** A program that restores a dump, and its arguments other than the database. */
interface RestoreProgram {
  program: 'pg_restore' | 'psql'
  args: readonly string[]
}

const BEGINNING_BYTES = 4_096
/** Offset of `ustar` in a tar archive. */
const TAR_MAGIC_AT = 257
/** A tar archive ends with two empty blocks (POSIX). */
const TAR_END = '\0'.repeat(1_024)
const PLAIN_BEGINS = '-- PostgreSQL database dump'
const PLAIN_ENDS = '-- PostgreSQL database dump complete'

/**
 * Commands that `pg_dump --create` and pg_dumpall write before any table. With them psql would switch from the scratch
 * database to another one.
 */
const LEAVES = /^(?:(?:CREATE|DROP) DATABASE|\\connect) .*/m

/**
 * The restore program for a dump, by the dump's format: pg_restore for custom, directory and tar, psql for a plain
 * dump.
 * @throws Error for any other file, for a truncated tar or plain dump, and for a plain dump that switches databases
 */
export async function restoreProgramOf(dump: string): Promise<RestoreProgram> {
  const restore: RestoreProgram = {
    program: 'pg_restore',
    args: ['--no-owner', '--no-privileges', '--exit-on-error', '--', dump],
  }
  if (existsSync(join(dump, 'toc.dat'))) return restore
  if (!statSync(dump, { throwIfNoEntry: false })?.isFile())
    throw new Error(
      `${dump} is neither a file nor a folder that \`pg_dump -Fd\` wrote: is the path right?`,
    )
  const { beginning, end } = await endsOf(dump)
  if (beginning === '')
    throw new Error(
      `${dump} is empty: pg_dump failed when it wrote it. If it said "server version mismatch", ${NEW_PROGRAMS}`,
    )
  if (beginning.startsWith('PGDMP')) return restore
  const isTar = beginning.startsWith('ustar', TAR_MAGIC_AT)
  if (!isTar && !beginning.includes(PLAIN_BEGINS))
    throw new Error(
      `${dump} is no dump of pg_dump (custom, directory, tar or plain): decrypt and unpack it first.`,
    )
  // neither pg_restore nor psql notices that the end of a dump is missing
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

/** URL parameters that mean the same to PostgreSQL's own programs and to the Node driver. */
const SHARED_PARAMETERS = ['host', 'port', 'user', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey']
const LONGEST_ERROR = 300
/** Characters of a program's messages in which its first error is searched. */
const LONGEST_STDERR_CHARS = 65_536

/**
 * Runs a restore program on a database. The password is passed in the environment, because every user of the machine
 * can see arguments.
 * @param signal ends the program
 * @throws Error with the program's first error, or where the program is not installed
 */
export async function restoreDump(
  { program, args }: RestoreProgram,
  url: string,
  signal: AbortSignal,
): Promise<void> {
  const target = new URL(url)
  const password = target.searchParams.get('password') ?? decodeURIComponent(target.password)
  target.password = ''
  for (const name of [...target.searchParams.keys()])
    if (!SHARED_PARAMETERS.includes(name)) target.searchParams.delete(name)
  // `no-verify` is the Node driver's name for encryption without verification, `require` is PostgreSQL's
  if (target.searchParams.get('sslmode') === 'no-verify')
    target.searchParams.set('sslmode', 'require')
  const env = environmentWithVariables(password === '' ? {} : { PGPASSWORD: password })
  const child = spawn(program, ['-d', target.href, ...args], {
    env,
    signal,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (chunk) => {
    // the rest may be an error for each row of the dump
    if (said.length < LONGEST_STDERR_CHARS) said += chunk
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'ENOENT' ? missing(program) : error)
    })
    child.on('close', resolve)
  })
  if (code === 0) return
  // report only the first error: later lines may show rows of the database
  const [error = said] = /^.*\berror: .*$/im.exec(said) ?? []
  const remedy = REMEDIES.find(([pattern]) => pattern.test(error))?.[1]
  throw new Error(
    `the dump can not be restored: ${error.trim().slice(0, LONGEST_ERROR)}${remedy ? `. ${remedy}` : ''}`,
  )
}

const NEW_PROGRAMS =
  "install PostgreSQL's client programs, of the server's version or newer (Debian: postgresql-client; for a newer server apt.postgresql.org)."

/** Advice for errors of the restore programs that are caused by a program's or a server's version. */
const REMEDIES: readonly [pattern: RegExp, remedy: string][] = [
  [
    /unsupported version \(/,
    'A newer pg_dump wrote it: check it with a pg_restore of that version, or dump with an older pg_dump that still knows the server.',
  ],
  [
    /unrecognized configuration parameter/,
    'The server of DATABASE_URL is older than the pg_dump that wrote it: dump with a pg_dump of the server’s version.',
  ],
]

const missing = (program: string): Error =>
  new Error(`${program} is not installed: ${NEW_PROGRAMS}`)
