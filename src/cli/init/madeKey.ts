/** A new key with which the relayer signs on a family's chains. */
export interface MadeKey {
  /** Variable that names the file. */
  readonly variable: string
  readonly file: string
  readonly content: string
  /** Sentence that names the key's public part. */
  readonly note: string
  /** Commands that deploy the family's program. @param network option of these commands, or an empty text */
  steps(network: string): string[]
}
