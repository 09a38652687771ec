/** A JSON-RPC call to the node behind the proxy. */
export interface RpcCall {
  id: number | string | null
  method: string
  params: readonly unknown[]
}

export interface RpcAnswer {
  result?: unknown
  error?: { code: number; message: string; data?: unknown }
}

/** Function that calls the node behind the proxy. @throws when the node does not answer */
export type UpstreamCaller = (method: string, params: readonly unknown[]) => Promise<RpcAnswer>

export function createUpstreamCaller(rpcUrl: string): UpstreamCaller {
  return async (method, params) => {
    const response = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const { result, error } = (await response.json()) as RpcAnswer
    return error === undefined ? { result } : { error }
  }
}

export const hexQuantity = (value: number): string => `0x${value.toString(16)}`

/** Number of the node's newest block. */
export const readHeadNumber = async (upstream: UpstreamCaller): Promise<number> =>
  Number((await upstream('eth_blockNumber', [])).result)
