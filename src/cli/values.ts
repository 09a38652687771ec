import type { Command } from 'commander'
import { type ChainConfig, ConfigError, readChains, readEnvironment } from '../config/index.js'
import { parseAddress } from '../registry/primitives/address.js'
import { parseClusterName } from '../registry/primitives/name.js'
import { NAME_RULE } from '../registry/primitives/nameRule.js'
import { NETWORKS, type Network } from '../registry/primitives/network.js'

/** Parsers of arguments and options as typed. Each throws an Error with one sentence that names the option. */

/** The canonical form of a cluster's name. @param kind noun in the error message */
export function nameOf(text: string, kind: 'name' | 'community'): string {
  const name = parseClusterName(text)
  if (name === null) throw new Error(`"${text}" is no ${kind}: ${NAME_RULE}.`)
  return name
}

export interface NetworkOptions {
  testnet?: boolean
  mainnet?: boolean
}

/**
 * Options that choose a network.
 * @param says what none of them means, such as `default: both`
 * @param takesBoth whether both together mean both networks; else they are refused
 */
export const withNetwork = (command: Command, says: string, { takesBoth = false } = {}): Command =>
  command
    .option('--mainnet', `on the mainnet; ${says}`)
    .option('--testnet', 'on the testnet')
    .hook('preAction', (_, chosen) => {
      const { mainnet, testnet } = chosen.opts<NetworkOptions>()
      if (mainnet && testnet && !takesBoth) throw new Error('Say --mainnet or --testnet, not both.')
    })

/** The networks that a command means: both, unless it names some. */
export function networksOf({ testnet, mainnet }: NetworkOptions): readonly Network[] {
  const chosen = NETWORKS.filter((network) => (network === 'testnet' ? testnet : mainnet))
  return chosen.length > 0 ? chosen : NETWORKS
}

/** The configuration of a chain, by its network label. @throws ConfigError where the chains file lacks it */
export function configuredChain(label: string): ChainConfig {
  const { chainsFile } = readEnvironment()
  const config = readChains(chainsFile).chains.find((chain) => chain.label === label)
  if (!config) throw new ConfigError(`The chains file ${chainsFile} has no chain "${label}".`)
  return config
}

/** The 20 bytes of an EVM address. */
export function addressOf(option: string, text: string): Buffer {
  const address = parseAddress(text)
  if (address === 'bad_checksum') throw new Error(`${option}: the checksum of ${text} (EIP-55) is wrong.`)
  if (address === 'unsupported_address' || address.type !== 'evm')
    throw new Error(`${option} is an EVM address: 0x and 40 hex digits.`)
  return address.bytes.subarray(1)
}

/** Unix seconds from seconds or an ISO date: `2027-01-31` or `2027-01-31T12:00:00Z`. */
export function secondsOf(option: string, text: string): number {
  if (/^[0-9]{9,11}$/.test(text)) return Number(text)
  const ms = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?Z)?$/.test(text) ? Date.parse(text) : Number.NaN
  // Date.parse reads a 30th of February as one of March
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== text.slice(0, 10))
    throw new Error(`${option} is a date such as 2027-01-31 or 2027-01-31T12:00:00Z, or Unix seconds.`)
  return ms / 1_000
}

export function blockOf(option: string, text: string): number {
  if (!/^[0-9]{1,15}$/.test(text)) throw new Error(`${option} is a block number.`)
  return Number(text)
}

/** Options of every command that sends transactions on EVM chains. A key is never one of them. */
export const withSigning = (command: Command): Command =>
  command
    .option('--keystore <file>', 'sign with the key of a keystore file (Web3 Secret Storage, version 3)')
    .option('--password-file <file>', 'the file of its password')
    .option('--signer-url <url>', 'or with a signer elsewhere (Web3Signer’s eth_signTransaction)')
    .option('--from <address>', 'and the address whose key it has')
    .option('--unsigned', 'or print one JSON object a line for each call, as a multisig takes them, and send nothing')
    .option('--yes', 'do not ask before sending')
