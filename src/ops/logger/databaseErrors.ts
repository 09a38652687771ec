/** Sentences about errors of PostgreSQL's server, by SQLSTATE, in place of its messages, which may hold rows. */
const SENTENCE_OF_SQLSTATE: Readonly<Record<string, string>> = {
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
const DRIVER_SENTENCES: readonly (readonly [beginning: string, sentence: string])[] = [
  ['timeout exceeded when trying to connect', 'no connection of the pool was free in time'],
  ['Connection terminated due to connection timeout', 'the database took no connection in time'],
  ['timeout expired', 'the database took no connection in time'],
  ['Connection terminated', 'the connection to the database broke'],
  ['Client has encountered a connection error', 'the connection to the database broke'],
  ['Query read timeout', 'the database gave no answer in time'],
]

/**
 * Beginnings of further messages that the driver makes itself, without a value of a statement or a row. They are
 * recognized by their text, because the driver replaces stacks. databaseErrors.test.ts compares the list with the
 * driver.
 */
const LOGGED_DRIVER_MESSAGE_BEGINNINGS = [
  'A query must have',
  'Binary mode not supported',
  'Buffer lengths must match',
  'Buffers cannot be empty',
  'Called end on pool',
  'Cannot use a pool',
  'Client has already been connected',
  'Client was closed',
  'Invalid array text - ',
  'Passing a function as the first parameter to pool.query',
  'Prepared statements must be unique',
  'Query values must be',
  'Received unexpected',
  'Release called on client',
  'SASL: Last message was not',
  'SASL: Mechanism SCRAM-SHA-256-PLUS',
  'SASL: Only mechanism',
  'SASL: Invalid attribute pair entry',
  'SASL: SCRAM-SERVER-',
  'The server does not support SSL',
  'There was an error establishing an SSL connection',
  'Unknown authenticationOk message',
  'Was expecting delimeter',
  'sslnegotiation=direct',
  'unexpected condition',
]
/** Matches messages without double quotes, which enclose data. Single quotes enclose only names. */
const MESSAGE_WITHOUT_DATA_PATTERN = /^[\w ,.:=(){}'-]{1,160}$/

/**
 * Our own error classes whose messages are logged. Their names identify them, because the pool replaces their stacks.
 */
const OWN_ERROR_CLASS_NAMES = ['DatabaseConnectionError', 'ForbiddenSchemaError']

/** Message of PostgreSQL about a denied access. The name of the object is not secret. */
const DENIED_ACCESS_PATTERN = /^permission denied for (\w+ [\w.]{1,63})$/

/** SQLSTATE of an error of PostgreSQL's server. Null for any other error. */
export function sqlStateOf(error: Error): string | null {
  const { severity, code } = error as Error & { severity?: unknown; code?: unknown }
  return severity !== undefined && typeof code === 'string' ? code : null
}

/**
 * Describes an error of PostgreSQL or of its driver without any content of rows. Where no sentence is known
 * for an SQLSTATE, the description says that the message is withheld. Null for any other error.
 */
export function describeDatabaseError(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  if (OWN_ERROR_CLASS_NAMES.includes(error.name)) return error.message
  const state = sqlStateOf(error)
  return state === null
    ? describeDriverError(error.message)
    : describeServerError(state, error.message)
}

function describeServerError(state: string, message: string): string {
  const sentence = SENTENCE_OF_SQLSTATE[state]
  if (sentence === undefined)
    return `message withheld: it may hold a row; SQLSTATE ${state}, see PostgreSQL's own log`
  const denied = state === '42501' ? DENIED_ACCESS_PATTERN.exec(message)?.[1] : undefined
  return denied === undefined ? sentence : `${sentence}: ${denied}`
}

function describeDriverError(message: string): string | null {
  const known = DRIVER_SENTENCES.find(([beginning]) => message.startsWith(beginning))
  if (known) return known[1]
  const isShown = LOGGED_DRIVER_MESSAGE_BEGINNINGS.some((beginning) =>
    message.startsWith(beginning),
  )
  return isShown && MESSAGE_WITHOUT_DATA_PATTERN.test(message) ? message : null
}
