/**
 * `npm run fuzz -- --requests 100000 --seed 1`: sends random requests, made from the OpenAPI documents, to the server.
 * Fails at a 5xx, an answer that violates its schema or takes over 2 s, or growing memory. Prints the live memory after
 * each fifth of the requests.
 */
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
  },
})
console.log(`${values.requests} requests, seed ${values.seed}`)
const run = spawn(
  'npx',
  [
    'vitest',
    'run',
    '--project',
    'own',
    'test/fuzz/requests.test.ts',
    '--disable-console-intercept',
  ],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      FUZZ_REQUESTS: values.requests,
      FUZZ_SEED: values.seed,
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --expose-gc`,
    },
  },
)
run.once('exit', (code) => {
  process.exitCode = code ?? 1
})
