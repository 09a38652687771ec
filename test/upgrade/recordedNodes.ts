import { bodyOf, serve } from '../support/httpServer.js'

/** Answers of nodes by chain and question: `1 eth_chainId []`. */
export type NodeAnswers = Record<string, NodeAnswer>

interface NodeAnswer {
  result?: unknown
  error?: unknown
}

interface Call {
  id: unknown
  method: string
  params?: unknown
}

/** Leaves out what no recorded answer depends on: all blocks of the recorded chains are canonical. */
const leaveOut = (name: string, value: unknown): unknown =>
  name === 'requireCanonical' ? undefined : value

/**
 * Nodes of all chains as they answered once, each at `<url>/<label>`. With live nodes a new question goes to them, and
 * its answer is added: the same question always gets the same answer, as if no block passed.
 * @param live URL of each chain's node
 */
export async function serveRecordedNodes(
  answers: NodeAnswers,
  live: Readonly<Record<string, string>> = {},
) {
  const missing = new Set<string>()

  async function answerOf(label: string, { method, params = [] }: Call): Promise<NodeAnswer> {
    const question = `${label} ${method} ${JSON.stringify(params, leaveOut)}`
    const known = answers[question]
    if (known) return known
    const url = live[label]
    if (!url) {
      missing.add(question)
      return { error: { code: -32_000, message: 'this question was not recorded' } }
    }
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const { result, error } = (await response.json()) as NodeAnswer
    // of the same questions that came meanwhile the first answer counts
    answers[question] ??= error === undefined ? { result } : { error }
    return answers[question]
  }

  const server = await serve(async (request, response) => {
    const label = request.url!.slice(1)
    const asked = JSON.parse(await bodyOf(request)) as Call | Call[]
    const reply = async (call: Call) => ({
      jsonrpc: '2.0',
      id: call.id,
      ...(await answerOf(label, call)),
    })
    const body = Array.isArray(asked) ? await Promise.all(asked.map(reply)) : await reply(asked)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  return {
    ...server,
    /** Questions without an answer. */
    missing,
  }
}
