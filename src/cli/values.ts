import { type Command, Option } from 'commander'
import { type ChainConfig, ConfigError, readChainsFile, readEnvironment } from '../config/index.js'
import { parseAddress } from '../registry/primitives/address.js'
import { parseClusterName } from '../registry/primitives/name.js'
import { NAME_RULES_TEXT } from '../registry/primitives/nameRule.js'
import { NETWORKS, type Network } from '../registry/primitives/network.js'

/** Parses a name. @param kind noun for the error message @throws Error with one sentence */
export function parseNameArgument(text: string, kind: 'name' | 'community'): string {
  const name = parseClusterName(text)
  if (name === null) throw new Error(`"${text}" is no ${kind}: ${NAME_RULES_TEXT}.`)
  return name
}

export interface NetworkOptions {
  testnet?: boolean
  mainnet?: boolean
}

/**
 * Adds `--testnet` and `--mainnet`.
 * @param defaultText help text for the case that neither is given, such as `default: both`
 */
export const addNetworkOptions = (command: Command, defaultText: string): Command =>
  command
    .addOption(new Option('--mainnet', `on the mainnet; ${defaultText}`).conflicts('testnet'))
    .option('--testnet', 'on the testnet')

/** The network that the options name; null where they name none. */
export function networkOfOptions({ testnet, mainnet }: NetworkOptions): Network | null {
  if (testnet) return 'testnet'
  return mainnet ? 'mainnet' : null
}

/** The network that the options name, else both networks. */
export function networksOfOptions(options: NetworkOptions): readonly Network[] {
  const network = networkOfOptions(options)
  return network === null ? NETWORKS : [network]
}

/** Settings of a chain in the chains file, by label. @throws ConfigError, such as for an unknown label */
export function requireConfiguredChain(label: string): ChainConfig {
  const { chainsFile } = readEnvironment()
  const config = readChainsFile(chainsFile).chains.find((chain) => chain.label === label)
  if (!config) throw new ConfigError(`The chains file ${chainsFile} has no chain "${label}".`)
  return config
}

/**
 * Creates the parser of an option's EVM address. The parser returns 20 bytes, and throws an Error with one sentence.
 */
export const createEvmAddressParser =
  (option: string) =>
  (text: string): Buffer => {
    const address = parseAddress(text)
    if (address === 'bad_checksum')
      throw new Error(`${option}: the checksum of ${text} (EIP-55) is wrong.`)
    if (address === 'unsupported_address' || address.type !== 'evm')
      throw new Error(`${option} is an EVM address: 0x and 40 hex digits.`)
    return address.bytes.subarray(1)
  }

/**
 * Creates the parser of an option's time: Unix seconds, or an ISO date such as `2027-01-31` or `2027-01-31T12:00:00Z`.
 * The parser returns Unix seconds, and throws an Error with one sentence.
 */
export const createUnixSecondsParser =
  (option: string) =>
  (text: string): number => {
    if (/^[0-9]{9,11}$/.test(text)) return Number(text)
    const ms = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?Z)?$/.test(text) ? Date.parse(text) : Number.NaN
    // Date.parse reads February 30 as March 2
    if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== text.slice(0, 10))
      throw new Error(
        `${option} is a date such as 2027-01-31 or 2027-01-31T12:00:00Z, or Unix seconds.`,
      )
    return ms / 1_000
  }

/** Creates the parser of an option's whole number from `min` to `max`. The parser throws an Error with one sentence. */
export const createWholeNumberParser =
  (option: string, { min = 0, max }: { min?: number; max: number }) =>
  (text: string): number => {
    const number = Number(text)
    if (/^[0-9]+$/.test(text) && number >= min && number <= max) return number
    throw new Error(`${option} is a whole number from ${min} to ${max}.`)
  }

export const createBlockNumberParser = (option: string) =>
  createWholeNumberParser(option, { max: Number.MAX_SAFE_INTEGER })

/** Adds the options of commands that sign. None of them takes a key itself, only a file or an external signer. */
export const addSigningOptions = (command: Command): Command =>
  command
    .option(
      '--keystore <file>',
      'sign with the key of a keystore file (Web3 Secret Storage, version 3)',
    )
    .option('--password-file <file>', 'the file of its password')
    .option('--signer-url <url>', 'or with a signer elsewhere (Web3Signer’s eth_signTransaction)')
    .option(
      '--from <address>',
      'and the address whose key it has',
      createEvmAddressParser('--from'),
    )
    .option(
      '--unsigned',
      'or print one JSON object a line for each call, as a multisig takes them, and send nothing',
    )
    .option('--yes', 'do not ask before sending')
