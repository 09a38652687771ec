import { fileURLToPath } from 'node:url'
import { describeDatabaseError } from './databaseErrors.js'
import { toSourcePosition } from './sources.js'

/** Folder of our sources, as URL and as path: stack traces have both forms. */
const SOURCE_FOLDERS = [
  new URL('../..', import.meta.url).href,
  fileURLToPath(new URL('../..', import.meta.url)),
]
/** Folder of bundled libraries below our sources' folder (scripts/bundle.ts). */
const LIBRARIES_FOLDER = 'libraries/'
/** Source position in a line of V8's stack traces. */
const STACK_PLACE_PATTERN = /^ {4}at (?:[^()]* \()?([^()]+:\d+:\d+)\)?$/
/** Error classes of JavaScript. Their name says little, so the source position is logged too. */
const BUILT_IN_CLASS_PATTERN = /^(?:Type|Range|Reference|Syntax)?Error$/
const LOGGABLE_WORD_PATTERN = /^[\w.-]{1,60}$/
/** Maximum number of an error's causes that are read: a chain of causes may be a circle. */
export const MAX_CAUSES = 8

/** Fields of an error that are logged, because they hold no row and no URL. All but `code` are PostgreSQL's. */
const LOGGED_FIELDS = ['code', 'severity', 'table', 'constraint', 'routine'] as const

/** An error as it is logged, without text that was written by a library, a server or a caller. */
interface LoggedError extends Partial<Record<(typeof LOGGED_FIELDS)[number], string | number>> {
  type: string
  /** HTTP status of the response that the error is about. */
  status?: number
  message?: string
  stack?: string[]
  cause?: LoggedError
}

/**
 * Describes an error for the log. Messages of libraries may hold URLs with keys, requests with signatures, and rows. So
 * only messages of errors that our own code created are kept. Of other errors their type, code and source position are
 * logged, and for the database a sentence of ours. Our code creates no errors of a library's classes (errors.test.ts).
 */
export function toLoggedError(error: unknown, depth = 1): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error }
  const fields = error as Error & Partial<Record<string, unknown>>
  const { status, cause } = fields
  const places = placesOf(error)
  const isOurs = isOwnPlace(places[0])
  const type = LOGGABLE_WORD_PATTERN.test(error.name) ? error.name : 'Error'
  const message = describeDatabaseError(error) ?? (isOurs ? error.message : null)
  return {
    type,
    ...Object.fromEntries(
      LOGGED_FIELDS.flatMap((key) => (isLoggableWord(fields[key]) ? [[key, fields[key]]] : [])),
    ),
    ...(typeof status === 'number' && { status }),
    ...(message !== null && { message }),
    ...(depth === 1 &&
      !(isOurs && !BUILT_IN_CLASS_PATTERN.test(type)) && {
        stack: places.map((one) => (isOwnPlace(one) ? toSourcePosition(one) : one)),
      }),
    ...(cause !== undefined && depth < MAX_CAUSES && { cause: toLoggedError(cause, depth + 1) }),
  }
}

const isLoggableWord = (value: unknown) =>
  typeof value === 'number' || (typeof value === 'string' && LOGGABLE_WORD_PATTERN.test(value))

/** The part of a library file's path up to the folder in which libraries are installed. */
const LIBRARY_FILE_PATTERN = /^.*\b(?:node_modules|libraries)\//
const inLibraryText = (place = ''): string =>
  LIBRARY_FILE_PATTERN.test(place) ? ` in ${place.replace(LIBRARY_FILE_PATTERN, '')}` : ''

/** Error classes of JavaScript. Where our code throws one for bad input, its caller catches it. */
const INTERNAL_ERROR_CLASSES = [TypeError, RangeError, ReferenceError, SyntaxError]

/**
 * True if an error is a mistake of our own code, not one that a node, a database or a caller can cause. `fetch` throws
 * a TypeError for a failed connection too, but that error has a `cause`.
 */
export const isInternalError = (error: unknown): boolean =>
  INTERNAL_ERROR_CLASSES.some((ownClass) => error instanceof ownClass) &&
  (error as Error).cause === undefined

/** The message of an error as `toLoggedError` keeps it. Without one, the error's class with its code or its library. */
export function errorSentence(error: unknown): string {
  const { type, code, message, stack } = toLoggedError(error)
  return message || (code === undefined ? `${type}${inLibraryText(stack?.[0])}` : `${type} ${code}`)
}

/** Result of the work, or `fallback` if it fails with an expected error. @throws other errors of the work */
export function fallbackOnExpectedError<T, const F>(
  work: Promise<T>,
  isExpected: (error: unknown) => boolean,
  fallback: F,
): Promise<T | F> {
  return work.catch((error: unknown) => {
    if (isExpected(error)) return fallback
    throw error
  })
}

/** Source positions in an error's stack, innermost first. Empty where the error's message was changed later. */
function placesOf({ stack = '', message }: Error): string[] {
  const at = stack.indexOf(message)
  if (at < 0) return []
  const lines = stack.slice(at + message.length).split('\n')
  const frames = lines.filter((line) => line.startsWith('    at '))
  return frames.map((line) => STACK_PLACE_PATTERN.exec(line)?.[1] ?? 'native')
}

const isOwnPlace = (place = ''): boolean =>
  SOURCE_FOLDERS.some(
    (folder) => place.startsWith(folder) && !place.startsWith(LIBRARIES_FOLDER, folder.length),
  )
