/** Sentences about errors of PostgreSQL, by SQLSTATE. Messages of the server itself may hold rows. */
const SENTENCES: Readonly<Record<string, string>> = {
  '08006': 'the connection to the database broke',
  '25006': 'the database takes no writes: it is a standby, or set to read only',
  '25P03': 'the database ended a transaction that stood idle for too long',
  '28000': 'the database refuses the role',
  '28P01': 'the database refuses the password of the role',
  '3D000': 'the database does not exist',
  '40P01': 'two transactions waited for each other',
  '42501': 'the database role does not have a right',
  '42P01': 'a table is missing: run `clusterd migrate`',
  '53100': 'the disk of the database is full',
  '53200': 'the database is out of memory',
  '53300': 'the database takes no more connections (max_connections)',
  '55P03': 'a lock was not free in time',
  '57014': 'a statement took longer than its time limit',
  '57P01': 'the database ended the connection',
  '57P02': 'the database crashed',
  '57P03': 'the database starts, stops or recovers',
}

/** Sentences for `pg` errors without a code, by the beginning of their message. */
const OF_DRIVER: readonly (readonly [beginning: string, sentence: string])[] = [
  ['timeout exceeded when trying to connect', 'no connection of the pool was free in time'],
  ['Connection terminated due to connection timeout', 'the database took no connection in time'],
  ['timeout expired', 'the database took no connection in time'],
  ['Connection terminated', 'the connection to the database broke'],
  ['Client has encountered a connection error', 'the connection to the database broke'],
  ['Query read timeout', 'the database gave no answer in time'],
]

/** Message of PostgreSQL about a denied access. The name of the object is not secret. */
const DENIED = /^permission denied for (\w+ [\w.]{1,63})$/

/** Describes an error of PostgreSQL or of its driver without any content of rows. Null for any other error. */
export function describeDatabaseError(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  // our own error class, identified by its name, because the pool replaces its stack
  if (error.name === 'DatabaseConnectionError') return error.message
  const code = 'severity' in error && 'code' in error ? String(error.code) : ''
  const sentence = SENTENCES[code]
  if (sentence === undefined)
    return OF_DRIVER.find(([beginning]) => error.message.startsWith(beginning))?.[1] ?? null
  const denied = code === '42501' ? DENIED.exec(error.message)?.[1] : undefined
  return denied === undefined ? sentence : `${sentence}: ${denied}`
}
