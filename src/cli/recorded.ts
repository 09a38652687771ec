import { randomUUID } from 'node:crypto'
import { hostname, userInfo } from 'node:os'
import type pg from 'pg'
import { writeOperatorAction } from '../db/deployment/operatorActions.js'
import { withConnection } from '../db/pg/pool.js'
import { errorMessageOf } from './output.js'
import { redactSecrets } from './withoutSecrets.js'

/** Time limit of a write to `operator_actions`. A command goes on without the row after this time. */
const WRITE_LIMIT_MS = 3_000
const MAX_TEXT_CHARS = 500
/** SQLSTATE insufficient_privilege: the role may not do what the statement does. */
export const MISSING_PRIVILEGE = '42501'

/**
 * Runs a command's work between two writes of its row in `operator_actions`. A row without an outcome belongs to a
 * command that is still running, or was killed. The command runs even if the row can't be written, such as where the
 * database is unavailable, read-only, or has no such table yet.
 * @throws the errors of `work`
 */
export async function runAndRecordCommand<T>(url: string, work: () => Promise<T>): Promise<T> {
  const id = randomUUID()
  const startedMs = performance.now()
  /** Writes the command's row. @returns true if the database answered, even if it refused the write */
  const write = (outcome: string | null): Promise<boolean> => {
    const ms = Math.round(performance.now() - startedMs)
    const action = {
      id,
      ms,
      osUser: osUser(),
      command: redactedCommandLine(process.argv.slice(2)),
      outcome,
    }
    const options = { url, applicationName: 'clusterd actions', answerMs: WRITE_LIMIT_MS }
    return withConnection(options, (client) => writeOperatorAction(client, action)).then(
      () => true,
      isRefusedByServer,
    )
  }
  const hasAnswered = await write(null)
  try {
    const result = await work()
    await write(process.exitCode ? `ended with ${process.exitCode}` : 'done')
    return result
  } catch (error) {
    if (hasAnswered) await write(`failed: ${shortText(errorMessageOf(error))}`)
    throw error
  }
}

/** True for an error by which the database server itself refused a write. A missing privilege is reported on stderr. */
function isRefusedByServer(error: pg.DatabaseError | Error): boolean {
  if (!('severity' in error)) return false
  if (error.code === MISSING_PRIVILEGE)
    console.error(
      `Note: operator_actions does not record this command (${error.message}): grant the role INSERT, SELECT and UPDATE on it.`,
    )
  return true
}

/** A command line as text, without secrets. Arguments with blanks are quoted. */
export function redactedCommandLine(words: readonly string[]): string {
  const shown = words.map(redactSecrets)
  return shortText(shown.map((word) => (/^\S+$/.test(word) ? word : `"${word}"`)).join(' '))
}

/** Shortens a text to one line, without secrets and terminal control characters. */
const shortText = (text: string): string =>
  redactSecrets(text)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .slice(0, MAX_TEXT_CHARS)

/** `user@host` of the process. In a container the user may have only a number. */
function osUser(): string {
  let user = `uid ${process.getuid?.() ?? 'unknown'}`
  try {
    user = userInfo().username
  } catch {
    // the OS user has no name: keep the number
  }
  return `${user}@${hostname()}`
}
