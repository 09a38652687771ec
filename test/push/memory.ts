import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Bytes in use after a garbage collection. */
export function alive(): number {
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
