import { bodyOf, serve } from '../support/httpServer.js'

interface Request {
  id: number
  method: string
  params: readonly unknown[]
}

interface RpcFailure {
  code: number
  message: string
}

/** Changes what a node answers. @param params of the request */
export type Alter = (method: string, params: readonly unknown[], result: unknown) => unknown

/** A Solana node's address that passes everything on to another one. */
export interface SolanaProxy {
  url: string
  /** Count of calls per method. */
  counts: Map<string, number>
  /** Null: answers are passed on as they are. */
  alter: Alter | null
  /** Gives the error that a call is answered with; undefined for none. One that throws closes the connection. */
  errorOf:
    | ((method: string, params: readonly unknown[]) => RpcFailure | undefined | Promise<RpcFailure>)
    | null
  /** Every request is refused. */
  isDown: boolean
  stop(): Promise<void>
}

export async function startSolanaProxy(target: string): Promise<SolanaProxy> {
  const one = async ({ id, method, params }: Request): Promise<object> => {
    proxy.counts.set(method, (proxy.counts.get(method) ?? 0) + 1)
    const error = await proxy.errorOf?.(method, params)
    if (error) return { jsonrpc: '2.0', id, error }
    const response = await fetch(target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
    })
    const answer = (await response.json()) as { result?: unknown }
    if (!proxy.alter || !('result' in answer)) return answer
    return { ...answer, result: proxy.alter(method, params, answer.result) }
  }
  const { url, stop } = await serve((request, response) => {
    const answer = async (): Promise<void> => {
      if (proxy.isDown) throw new Error('down')
      const result = await one(JSON.parse(await bodyOf(request)))
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(result))
    }
    answer().catch(() => response.destroy())
  })
  const proxy: SolanaProxy = {
    url,
    stop,
    counts: new Map(),
    alter: null,
    errorOf: null,
    isDown: false,
  }
  return proxy
}
