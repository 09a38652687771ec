import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

/** The files of examples/deploy/topology, with hosts and ports of processes on this machine. */
export const FOLDER = fileURLToPath(new URL('../../examples/deploy/topology', import.meta.url))

export interface Service {
  image: string
  command: string[]
  healthcheck?: { test: string[] }
  environment: Record<string, string>
}

/** Reads a compose file. @returns its services; anchors and merges are resolved, variables are not */
export function readCompose(path = join(FOLDER, 'compose.yaml')): Record<string, Service> {
  return parse(readFileSync(path, 'utf8'), { merge: true }).services
}

/** Fills in `${NAME}`, `${NAME:-default}` and `${NAME:?message}` as compose does. @throws Error with the message */
export const interpolate = (text: string, variables: Readonly<Record<string, string>>): string =>
  text.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, kind?: string, rest = '') => {
    const value = variables[name] ?? ''
    if (value !== '') return value
    if (kind === '-') return rest
    throw new Error(`${name} is not set: ${rest}`)
  })

/** Puts addresses of this machine in the places of `<service>:<port>`, in whatever way a file writes them. */
export function placed(text: string, places: ReadonlyMap<string, number>): string {
  let result = text
  for (const [service, port] of places) {
    const [host, inside] = service.split(':') as [string, string]
    result = result
      .replaceAll(new RegExp(`(?<![\\w-])${host}:${inside}\\b`, 'g'), `127.0.0.1:${port}`)
      .replaceAll(`host=${host} port=${inside}`, `host=127.0.0.1 port=${port}`)
  }
  return result
}

/** A file of the folder. */
export const read = (file: string): string => readFileSync(join(FOLDER, file), 'utf8')

/** Statements of init.sql, which psql reads: the statements before its `\connect`, and the statements after it. */
export function initStatements(password: string): [server: string[], database: string[]] {
  const parts = read('init.sql')
    .replaceAll(":'password'", `'${password}'`)
    .split(/^\\connect .*$/m)
  const [server = [], database = []] = parts.map((part) =>
    part
      .replace(/^(\\|--).*$/gm, '')
      .split(';')
      .map((statement) => statement.trim())
      .filter((statement) => statement !== ''),
  )
  return [server, database]
}

/** Values of the `-c name=value` arguments of a server's command. */
export const settingsOf = ({ command }: Service): Record<string, string> =>
  Object.fromEntries(
    command.filter((part) => part.includes('=')).map((part) => part.split('=') as [string, string]),
  )
