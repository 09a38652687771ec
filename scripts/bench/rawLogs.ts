/** A log as the node's JSON has it. */
export interface JsonLog {
  data: string
  blockNumber: string
  logIndex: string
  transactionHash: string
}

/** One bare `eth_getLogs` over fetch: the parsed JSON, nothing else. */
export async function rawLogs(
  rpcUrl: string,
  { hub, topic }: { hub: string; topic: string },
  from: number,
  to: number,
): Promise<JsonLog[]> {
  const range = { fromBlock: `0x${from.toString(16)}`, toBlock: `0x${to.toString(16)}` }
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_getLogs',
      params: [{ address: hub, topics: [topic], ...range }],
    }),
  })
  const { result, error } = (await response.json()) as { result?: JsonLog[]; error?: { message: string } }
  if (!result) throw new Error(`getting logs of blocks ${from}-${to}: ${error?.message ?? response.status}`)
  return result
}
