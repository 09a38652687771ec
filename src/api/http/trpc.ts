import { chargeForListItems } from '../limits/costs.js'
import { type Answer, type HttpMessage, jsonAnswer, okAnswer } from './answer.js'
import type { Context } from './context.js'
import { ApiError, errorAnswer } from './errors.js'
import { declareRoute, type Route } from './route.js'
import { z } from './schema.js'

// This file serves tRPC over HTTP: queries whose parameter `input` is plain JSON. It does not support mutations,
// transformers and batches.

/** Prefix of a procedure's path. The name of the procedure follows. */
const PROCEDURE_PATH_PREFIX = '/v1/trpc/'
/** Longest `input`, characters. */
const MAX_INPUT_CHARS = 1_000

/** tRPC's error codes with their JSON-RPC numbers, by HTTP status. */
const TRPC_CODES: Readonly<Record<number, readonly [code: string, number: number]>> = {
  400: ['BAD_REQUEST', -32_600],
  404: ['NOT_FOUND', -32_004],
  429: ['TOO_MANY_REQUESTS', -32_029],
  500: ['INTERNAL_SERVER_ERROR', -32_603],
  503: ['SERVICE_UNAVAILABLE', -32_603],
}

const ErrorSchema = z.object({
  error: z.object({
    message: z.string(),
    code: z.int().describe('Number of JSON-RPC'),
    data: z.object({
      code: z.string(),
      httpStatus: z.int(),
      path: z.string(),
      error: z.string().describe('Code of the other routes’ errors'),
    }),
  }),
})

const ERROR_RESPONSES = Object.fromEntries(
  Object.entries(TRPC_CODES).map(([status, [code]]) => [
    status,
    { description: `\`${code}\``, schema: ErrorSchema },
  ]),
)

interface Procedure<Input extends z.ZodType>
  extends Pick<
    Route,
    'summary' | 'description' | 'listBounds' | 'cacheSource' | 'costliestSample' | 'price'
  > {
  input: Input
  /** Example of the input. */
  example: z.input<Input>
  /** Schema of what `run` returns. */
  data: z.ZodType
  run(input: z.output<Input>, context: Context): Promise<object | null>
}

/** Declares the route of a tRPC query. */
export function declareProcedure<Input extends z.ZodType>(
  name: string,
  { input, example, data, run, ...declared }: Procedure<Input>,
): Route {
  const description = 'The input of the procedure as JSON, without a transformer'
  return declareRoute.get(`${PROCEDURE_PATH_PREFIX}${name}`, {
    ...declared,
    refusedSample: { what: 'no input', error: 'invalid_request' },
    query: z.object({
      input: z.string().openapi({ description, example: JSON.stringify(example) }),
    }),
    responses: {
      ...ERROR_RESPONSES,
      200: { description: 'The data', schema: z.object({ result: z.object({ data }) }) },
    },
    async handle({ query }, context) {
      if (query.get('batch') !== undefined)
        throw new ApiError(
          'invalid_request',
          'Batches (the parameter batch) are not taken: send a request for each procedure.',
        )
      const data = await run(parseInput(input, query.get('input')), context)
      return chargeForListItems(okAnswer({ result: { data } }), countListElements(data))
    },
  })
}

/** Parses the parameter `input` of a procedure. @throws ApiError invalid_request */
function parseInput<Input extends z.ZodType>(schema: Input, text = ''): z.output<Input> {
  const parsed = schema.safeParse(
    text.length > MAX_INPUT_CHARS ? undefined : parseJsonOrUndefined(text),
  )
  if (parsed.success) return parsed.data
  const [{ path, message }] = parsed.error.issues as [z.core.$ZodIssue]
  throw new ApiError(
    'invalid_request',
    `The parameter input is not the procedure’s input as JSON of up to ${MAX_INPUT_CHARS} characters: ${[...path, message].join(': ')}`,
  )
}

/** The value of a JSON text; undefined for any other text. */
function parseJsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Number of elements of the data if they are a list, else of the lists among their fields. */
const countListElements = (data: object | null): number =>
  [data, ...Object.values(data ?? {})]
    .filter(Array.isArray)
    .reduce((sum, list) => sum + list.length, 0)

/**
 * True for a URL or a route below the path of procedures. Errors of procedures have the form of tRPC, and pages may
 * send credentials, which are not read.
 */
export const isTrpcUrl = (url: string): boolean => url.startsWith(PROCEDURE_PATH_PREFIX)

/** An error in the form of tRPC. @param path of the procedure's route, or of the request */
export function trpcErrorAnswer(error: ApiError, path: string): Answer {
  const { status, headers } = errorAnswer(error)
  const [code, number] = TRPC_CODES[status] ?? TRPC_CODES[status < 500 ? 400 : 500]!
  const data = {
    code,
    httpStatus: status,
    path: path.replace(PROCEDURE_PATH_PREFIX, ''),
    error: error.code,
  }
  return jsonAnswer(status, { error: { message: error.message, code: number, data } }, headers)
}

/**
 * Allows a page to read a message of tRPC whose request had credentials. Browsers require that the message names the
 * page's origin (Fetch, 3.2.5). No cookie is read, so the page gets the same data as any client. A message of another
 * path is returned unchanged.
 * @param url of the request, or its path
 * @param origin of the page; undefined for other clients
 */
export function withCredentialHeaders<M extends Pick<HttpMessage, 'headers'>>(
  url: string,
  message: M,
  origin: string | undefined,
): M {
  if (!isTrpcUrl(url)) return message
  const headers = message.headers.map((text, i) =>
    message.headers[i - 1] === 'access-control-allow-origin' ? (origin ?? text) : text,
  )
  if (origin) headers.push('access-control-allow-credentials', 'true')
  return { ...message, headers: [...headers, 'vary', 'origin'] }
}
