/**
 * `npm run fuzz -- --requests 100000 --seed 1`: random requests from the OpenAPI documents against the server. It fails
 * at a 5xx, an answer that breaks its schema, one that takes over 2 s, or memory that grows:
 * what is alive after a full collection is printed at every fifth.
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
