/**
 * `npm run conformance -- --url https://…`: checks a deployment against every row of the interface's specification.
 * Reads only, unless `--write` is given with a funded account's `--key` and the `--rpc` and `--network` of its chain.
 * Rows that can't be checked on this deployment are listed and not counted as passed. Exit code 1 where a row fails.
 */
import { parseArgs } from 'node:util'
import type { Hex } from 'viem'
import { ROWS } from '../test/conformance/index.js'
import { type Result, run } from '../test/conformance/row.js'
import { createTarget, type WriteOptions } from '../test/conformance/target.js'

const USAGE = `npm run conformance -- --url URL [--testnet] [--tx status=hash …] [--airdrop COMMUNITY] [--write --key 0x… --rpc URL --network LABEL]`

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    testnet: { type: 'boolean', default: false },
    tx: { type: 'string', multiple: true, default: [] },
    airdrop: { type: 'string' },
    write: { type: 'boolean', default: false },
    key: { type: 'string' },
    rpc: { type: 'string' },
    network: { type: 'string' },
  },
})

function stop(problem: string): never {
  console.error(`${problem}\n${USAGE}`)
  process.exit(2)
}

function writeOptions(): WriteOptions | undefined {
  if (!values.write) return undefined
  const { key, rpc, network } = values
  if (!key || !rpc || !network) return stop('--write needs --key, --rpc and --network.')
  if (!/^0x[0-9a-fA-F]{64}$/.test(key)) return stop('--key is 0x and 64 hex digits.')
  return { privateKey: key as Hex, rpcUrl: rpc, label: network }
}

const { url } = values
if (!url) stop('--url is missing.')
const write = writeOptions()
const transactions = Object.fromEntries(values.tx.map((pair) => pair.split('=', 2)))
const target = createTarget({
  url,
  testnet: values.testnet,
  transactions,
  ...(write && { write }),
  ...(values.airdrop && { airdrop: values.airdrop }),
})

const results: Result[] = []
for (const row of ROWS) {
  const result = await run(row, target)
  results.push(result)
  const reason = 'reason' in result ? `: ${result.reason.split('\n', 1)[0]}` : ''
  console.log(`${result.outcome.padEnd(12)}${result.section.padEnd(18)} ${result.row}${reason}`)
}

const count = (outcome: Result['outcome']) =>
  results.filter((result) => result.outcome === outcome).length
console.log(
  `\n${count('passed')} passed, ${count('failed')} failed, ${count('not checked')} not checked, of ${ROWS.length} rows`,
)
process.exit(count('failed') > 0 ? 1 : 0)
