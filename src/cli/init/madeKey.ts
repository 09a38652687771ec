/** A new key by which the relayer acts on a family's chains. */
export interface MadeKey {
  /** Variable that names the file. */
  readonly variable: string
  readonly file: string
  readonly content: string
  /** Sentence that names the key's public part. */
  readonly note: string
  /** Commands that bring the family's program onto its chain. @param network option of these commands, or nothing */
  steps(network: string): string[]
}
