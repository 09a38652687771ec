import { readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'

/** What a deployment writes into a chains file: fields of EVM chains by label, and of Solana clusters by network. */
export interface ChainsEdit {
  chains?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  solana?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

interface ChainsJson {
  chains: Record<string, unknown>[]
  solana?: Record<string, Record<string, unknown>>
}

/**
 * Sets fields in a chains file and leaves everything else as it is, in its order and with its indentation. A crash
 * leaves the old file or the new one.
 */
export function editChains(file: string, { chains = {}, solana = {} }: ChainsEdit): void {
  // a link stays one
  const path = realpathSync(file)
  const text = readFileSync(path, 'utf8')
  const json = JSON.parse(text) as ChainsJson
  for (const chain of json.chains) Object.assign(chain, chains[String(chain.label)])
  for (const [network, fields] of Object.entries(solana)) Object.assign(json.solana?.[network] ?? {}, fields)
  const indentation = /^\{\r?\n([ \t]+)/.exec(text)?.[1] ?? 2
  const edited = JSON.stringify(json, null, indentation) + (text.endsWith('\n') ? '\n' : '')
  if (edited === text) return
  const temporary = `${path}.${process.pid}.tmp`
  try {
    writeFileSync(temporary, edited, { mode: statSync(path).mode, flush: true })
    renameSync(temporary, path)
  } finally {
    rmSync(temporary, { force: true })
  }
}
