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

/** Number of bytes to read from the beginning and from the end of a dump. */
const READ_BYTES = 4_096
/** Offset of `ustar` in a tar archive, bytes. */
const TAR_MAGIC_OFFSET = 257
/** A tar archive ends with two empty blocks (POSIX). */
const TAR_END = '\0'.repeat(1_024)
const PLAIN_DUMP_BEGINNING = '-- PostgreSQL database dump'
const PLAIN_DUMP_END = '-- PostgreSQL database dump complete'

/**
 * Pattern of the commands that `pg_dump --create` and pg_dumpall write before any table. With them psql would switch
 * from the scratch database to another one.
 */
const DATABASE_SWITCH_PATTERN = /^(?:(?:CREATE|DROP) DATABASE|\\connect) .*/m

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
  const { beginning, end } = await readBeginningAndEnd(dump)
  if (beginning === '')
    throw new Error(
      `${dump} is empty: pg_dump failed when it wrote it. If it said "server version mismatch", ${INSTALL_CLIENT_PROGRAMS_ADVICE}`,
    )
  if (beginning.startsWith('PGDMP')) return restore
  const isTar = beginning.startsWith('ustar', TAR_MAGIC_OFFSET)
  if (!isTar && !beginning.includes(PLAIN_DUMP_BEGINNING))
    throw new Error(
      `${dump} is no dump of pg_dump (custom, directory, tar or plain): decrypt and unpack it first.`,
    )
  // neither pg_restore of a tar archive nor psql notices that the end of its input is missing
  if (isTar ? !end.endsWith(TAR_END) : !end.includes(PLAIN_DUMP_END))
    throw new Error(`${dump} is cut off: it does not end as a whole dump does.`)
  if (isTar) return restore
  const [switchingLine] = DATABASE_SWITCH_PATTERN.exec(beginning) ?? []
  if (switchingLine)
    throw new Error(
      `${dump} was made with --create (${switchingLine.slice(0, MAX_ERROR_CHARS)}): psql changes the database that it names. Dump without --create, or in the form custom.`,
    )
  return { program: 'psql', args: ['-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', dump] }
}

async function readBeginningAndEnd(path: string): Promise<{ beginning: string; end: string }> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const read = async (position: number): Promise<string> => {
      const { buffer, bytesRead } = await file.read(
        Buffer.alloc(READ_BYTES),
        0,
        READ_BYTES,
        position,
      )
      return buffer.toString('latin1', 0, bytesRead)
    }
    return { beginning: await read(0), end: await read(Math.max(0, size - READ_BYTES)) }
  } finally {
    await file.close()
  }
}

/** URL parameters that mean the same to PostgreSQL's own programs and to the Node driver. */
const SHARED_PARAMETERS = ['host', 'port', 'user', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey']
const MAX_ERROR_CHARS = 300
/** Number of characters at the beginning of a program's stderr that are searched for its first error. */
const MAX_STDERR_CHARS = 65_536

/**
 * Runs a restore program on a database. The password is passed in the environment, because every user of the machine
 * can see arguments.
 * @param signal ends the program
 * @throws Error with the first error line of the program, or that it is not installed; AbortError where `signal` fires
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
  let stderrText = ''
  child.stderr.on('data', (chunk) => {
    // the rest may be an error for each row of the dump
    if (stderrText.length < MAX_STDERR_CHARS) stderrText += chunk
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', (error: NodeJS.ErrnoException) => {
      reject(error.code === 'ENOENT' ? notInstalledError(program) : error)
    })
    child.on('close', resolve)
  })
  if (code === 0) return
  // report only the first error: later lines may show rows of the database
  const [error = stderrText] = /^.*\berror: .*$/im.exec(stderrText) ?? []
  const remedy = VERSION_REMEDIES.find(([pattern]) => pattern.test(error))?.[1]
  throw new Error(
    `the dump can not be restored: ${error.trim().slice(0, MAX_ERROR_CHARS)}${remedy ? `. ${remedy}` : ''}`,
  )
}

const INSTALL_CLIENT_PROGRAMS_ADVICE =
  "install PostgreSQL's client programs, of the server's version or newer (Debian: postgresql-client; for a newer server apt.postgresql.org)."

/** Advice for errors of the restore programs that are caused by a program's or a server's version. */
const VERSION_REMEDIES: readonly [pattern: RegExp, remedy: string][] = [
  [
    /unsupported version \(/,
    'A newer pg_dump wrote it: check it with a pg_restore of that version, or dump with an older pg_dump that still knows the server.',
  ],
  [
    /unrecognized configuration parameter/,
    'The server of DATABASE_URL is older than the pg_dump that wrote it: dump with a pg_dump of the server’s version.',
  ],
]

const notInstalledError = (program: string): Error =>
  new Error(`${program} is not installed: ${INSTALL_CLIENT_PROGRAMS_ADVICE}`)
