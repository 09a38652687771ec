/** Requests with their answers, and how two answers differ. */

export interface Request {
  method: 'GET' | 'POST'
  /** Path and query. */
  path: string
  body?: unknown
  /** Role of the wallet whose key the request carries. */
  as?: string
}

export interface Answer {
  status: number
  headers: Record<string, string>
  /** Parsed where it is JSON. */
  body: unknown
}

/** A request with the answer from before the upgrade. */
export interface Recorded extends Request {
  answer: Answer
  /** Fields that changed from one answer to the next, in the form of `differences`: only their types are compared. */
  varying: string[]
}

/** Headers of the connection or of a single request. */
const UNRECORDED = [
  'date',
  'connection',
  'keep-alive',
  'content-length',
  'transfer-encoding',
  'x-request-id',
]

/** @param sessions authentication keys by role */
export async function ask(
  api: string,
  { method, path, body, as }: Request,
  sessions: Readonly<Record<string, string>>,
): Promise<Answer> {
  const headers: Record<string, string> = {}
  if (as !== undefined) headers.authorization = `Bearer ${sessions[as]}`
  if (body !== undefined) headers['content-type'] = 'application/json'
  const response = await fetch(`${api}${path}`, {
    method,
    headers,
    redirect: 'manual',
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return {
    status: response.status,
    headers: Object.fromEntries(
      [...response.headers].filter(([name]) => !UNRECORDED.includes(name)).sort(),
    ),
    body: isJson ? JSON.parse(text) : text,
  }
}

/** What tools of the operator read. */
export interface OperatorView {
  /** Fields of `/status`, in the form of `differences`. */
  status: string[]
  /** Series of `/metrics`: `name{label,label}`. */
  metrics: string[]
  /** Fields that every line of the log has. */
  log: string[]
}

/** @param log text of a daemon's log, a JSON object a line */
export async function viewAsOperator(ops: string, log: string): Promise<OperatorView> {
  const status = await (await fetch(`${ops}/status`)).json()
  const metrics = await (await fetch(`${ops}/metrics`)).text()
  const series = [...metrics.matchAll(/^(\w+)(?:\{(.*)\})? /gm)].map(([, name, labels = '']) => {
    const names = [...labels.matchAll(/(\w+)="/g)].map(([, label]) => label)
    return `${name}{${names.join()}}`
  })
  const lines = log.split('\n').filter((line) => line.startsWith('{'))
  const [first = [], ...rest] = lines.map((line) => Object.keys(JSON.parse(line)))
  return {
    status: [...new Set(pathsOf(status))].sort(),
    metrics: [...new Set(series)].sort(),
    log: first.filter((field) => rest.every((fields) => fields.includes(field))),
  }
}

/** Paths of all values in JSON. */
function pathsOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => pathsOf(one, `${path}[]`))
  if (!isRecord(value)) return [path]
  return Object.entries(value).flatMap(([name, one]) =>
    pathsOf(one, path === '' ? name : `${path}.${name}`),
  )
}

/** A field whose value is not the same in two answers. `undefined` is an absent one. */
export interface Difference {
  /** `body.items[].timestamp` */
  field: string
  before: unknown
  after: unknown
}

/** Fields that differ, in depth. An array of another length differs as a whole. */
export function differences(before: unknown, after: unknown, field = ''): Difference[] {
  if (Object.is(before, after)) return []
  const areArrays = Array.isArray(before) && Array.isArray(after) && before.length === after.length
  if (areArrays) return before.flatMap((one, i) => differences(one, after[i], `${field}[]`))
  if (!isRecord(before) || !isRecord(after)) return [{ field, before, after }]
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].flatMap((name) =>
    differences(before[name], after[name], field === '' ? name : `${field}.${name}`),
  )
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
