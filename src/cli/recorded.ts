import { randomUUID } from 'node:crypto'
import { hostname, userInfo } from 'node:os'
import type pg from 'pg'
import { writeAction } from '../db/deployment/operatorActions.js'
import { onConnection } from '../db/pg/pool.js'
import { messageOf } from './output.js'
import { withoutSecrets } from './withoutSecrets.js'

/** Time limit of a write, which no command waits for longer. */
const WRITE_LIMIT_MS = 3_000
const LONGEST_TEXT = 500
/** SQLSTATE of a right that is missing. */
const FORBIDDEN = '42501'

/**
 * Runs a command's work between two writes of its row in `operator_actions`: a row without an outcome is of a command that
 * still runs, or was killed. A database that is away, only reads or has no such table yet ends no command; neither does a
 * role without the right, which is said.
 */
export async function recorded<T>(url: string, work: () => Promise<T>): Promise<T> {
  const id = randomUUID()
  const startedMs = performance.now()
  /** @returns false where the database does not answer */
  const write = (outcome: string | null): Promise<boolean> => {
    const ms = Math.round(performance.now() - startedMs)
    const action = {
      id,
      ms,
      osUser: osUser(),
      command: commandLine(process.argv.slice(2)),
      outcome,
    }
    const options = { url, applicationName: 'clusterd actions', answerMs: WRITE_LIMIT_MS }
    return onConnection(options, (client) => writeAction(client, action)).then(() => true, refused)
  }
  const isThere = await write(null)
  try {
    const result = await work()
    await write(process.exitCode ? `ended with ${process.exitCode}` : 'done')
    return result
  } catch (error) {
    if (isThere) await write(`failed: ${shortText(messageOf(error))}`)
    throw error
  }
}

/** True where the server itself refused a write. A right that is missing is said. */
function refused(error: pg.DatabaseError | Error): boolean {
  if (!('severity' in error)) return false
  if (error.code === FORBIDDEN)
    console.error(
      `Note: operator_actions does not record this command (${error.message}): grant the role INSERT, SELECT and UPDATE on it.`,
    )
  return true
}

/** Words of a command line without secrets, those with blanks in quotes. */
export function commandLine(words: readonly string[]): string {
  const shown = words.map(withoutSecrets)
  return shortText(shown.map((word) => (/^\S+$/.test(word) ? word : `"${word}"`)).join(' '))
}

/** On one line, and without characters that move a terminal. */
const shortText = (text: string): string =>
  withoutSecrets(text)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .slice(0, LONGEST_TEXT)

/** A container's user may have no name. */
function osUser(): string {
  let user = `uid ${process.getuid?.() ?? 'unknown'}`
  try {
    user = userInfo().username
  } catch {
    // the number stays
  }
  return `${user}@${hostname()}`
}
