import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Abi, Hex } from 'viem'

const require = createRequire(import.meta.url)
const solc = require('solc') as { compile(input: string, callbacks: object): string }
const clusterd = dirname(require.resolve('clusterd/package.json'))

/** What solc makes of a contract in `contracts`; imports of `clusterd/…` come from the package. */
export function compile(name: string): { abi: Abi; bytecode: Hex } {
  const input = {
    language: 'Solidity',
    sources: {
      [`${name}.sol`]: {
        content: readFileSync(join(import.meta.dirname, 'contracts', `${name}.sol`), 'utf8'),
      },
    },
    settings: { outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } } },
  }
  const find = (path: string) => ({
    contents: readFileSync(path.replace(/^clusterd/, clusterd), 'utf8'),
  })
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: find }))
  const failed = output.errors?.find((error: { severity: string }) => error.severity === 'error')
  if (failed) throw new Error(failed.formattedMessage)
  const { abi, evm } = output.contracts[`${name}.sol`][name]
  return { abi, bytecode: `0x${evm.bytecode.object}` }
}
