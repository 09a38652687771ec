import { registrarIdl } from './registrar.js'

/**
 * A name for a transaction's error as JSON has it: `"BlockhashNotFound"`, `{"InstructionError":[0,{"Custom":6014}]}`,
 * ... Never a node's own words.
 */
export function errorName(err: unknown): string {
  if (typeof err === 'string') return snake(err)
  if (typeof err !== 'object' || err === null) return 'failed'
  const [name, detail] = Object.entries(err)[0] ?? ['failed', null]
  if (name === 'InstructionError' && Array.isArray(detail)) return errorName(detail[1])
  if (name === 'Custom') {
    const known = registrarIdl.errors?.find(({ code }) => code === detail)
    return known ? snake(known.name) : `custom_${String(detail).slice(0, 10)}`
  }
  return snake(name)
}

const snake = (name: string): string =>
  name
    .replace(/[^A-Za-z0-9_]/g, '')
    .slice(0, 60)
    .replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_')
    .toLowerCase()
