import { errorSentence } from '../ops/logger/errors.js'
import { BACKOFF_PAUSES_MS, backoffPauseMs } from '../ops/waiting.js'
import { findCosignatures, type WitnessKey } from '../registry/transparencyLog/cosignature.js'
import {
  type NoteSignature,
  parseCheckpoint,
  parseNote,
  type SignedNote,
  toBase64,
} from '../registry/transparencyLog/note.js'
import { isTextSigned } from '../registry/transparencyLog/signer.js'

/** A witness of a transparency log, and the prefix of the witness's URLs (C2SP tlog-witness). */
export interface WitnessSettings extends WitnessKey {
  url: string
}

/**
 * Time limit for all requests to a witness about one checkpoint, ms. Afterwards the checkpoint is published without the
 * witness's signature.
 */
export const WITNESS_LIMIT_MS = 2_000
const MAX_WITNESS_ANSWER_CHARACTERS = 16_384

/** Client of a witness. A failing witness gets requests less and less often, so that it seldom delays a checkpoint. */
export class Witness {
  readonly name: string
  /**
   * Time since which all requests to the witness have failed, by `performance.now()`, and the last reason. Null where
   * the last request succeeded, and before the first one.
   */
  failing: { sinceMs: number; why: string } | null = null
  readonly #settings: WitnessSettings
  /** Size of the checkpoint that the witness has signed last, 0 while unknown. */
  #signedSize = 0
  #failures = 0
  #nextRequestAtMs = 0

  constructor(settings: WitnessSettings) {
    this.name = settings.name
    this.#settings = settings
  }

  /** The witness's signature in a note, not verified. */
  signatureIn(note: string | null): NoteSignature | undefined {
    const { name, keyId } = this.#settings
    return parseNote(note ?? '')?.signatures.find((one) => one.name === name && one.keyId === keyId)
  }

  /** True if the note does not have the witness's signature, and the pause after the last failure is over. */
  isDue = (note: string | null): boolean =>
    note !== null && performance.now() >= this.#nextRequestAtMs && !this.signatureIn(note)

  /**
   * Requests the witness's signature on a checkpoint.
   * @param note signed by the log only
   * @param proofFrom reads the consistency proof from an older size of the log
   * @returns undefined where the witness is not due, refuses, does not answer in time, or answers without a valid
   * signature
   */
  async ask(
    note: string,
    proofFrom: (size: number) => Promise<readonly Uint8Array[]>,
    signal: AbortSignal,
  ): Promise<NoteSignature | undefined> {
    if (!this.isDue(note)) return undefined
    const limit = AbortSignal.any([signal, AbortSignal.timeout(WITNESS_LIMIT_MS)])
    try {
      const signature = await this.#ask(note, parseNote(note)!, proofFrom, limit)
      this.#failures = 0
      this.failing = null
      return signature
    } catch (error) {
      this.#failures += 1
      // the cause of a failed `fetch` names the fault
      const why = errorSentence((error as Error).cause ?? error)
      this.failing = { sinceMs: this.failing?.sinceMs ?? performance.now(), why }
      this.#nextRequestAtMs =
        performance.now() + backoffPauseMs(this.#failures, BACKOFF_PAUSES_MS.witness)
      return undefined
    }
  }

  /** Sends the request. @throws Error that says why the witness has not signed */
  async #ask(
    note: string,
    parsed: SignedNote,
    proofFrom: (size: number) => Promise<readonly Uint8Array[]>,
    signal: AbortSignal,
  ): Promise<NoteSignature> {
    const { size } = parseCheckpoint(parsed.text)!
    // A witness that has signed another size than this process knows refuses the first request, and returns that size.
    // The second request starts from there.
    for (const _attempt of ['first', 'second']) {
      const old = this.#signedSize <= size ? this.#signedSize : 0
      const proof = old > 0 ? await proofFrom(old) : []
      const lines = proof.map((hash) => `${toBase64(hash)}\n`).join('')
      const response = await fetch(`${this.#settings.url}/add-checkpoint`, {
        method: 'POST',
        body: `old ${old}\n${lines}\n${note}`,
        redirect: 'error',
        signal,
      })
      const answer = await readText(response)
      if (response.status === HTTP_CONFLICT && /^\d{1,15}\n$/.test(answer)) {
        this.#signedSize = Number(answer)
        continue
      }
      if (response.status !== 200) throw new Error(`it answered ${response.status}`)
      const { signatures = [] } = parseNote(`${parsed.text}\n${answer}`) ?? {}
      const signed = { text: parsed.text, signatures }
      const [signature] = findCosignatures(signed, [this.#settings], isTextSigned)
      if (!signature) throw new Error('its answer has no valid signature of its key')
      this.#signedSize = size
      return signature
    }
    throw new Error(`it has signed ${this.#signedSize} entries, of which the log has ${size}`)
  }
}

const HTTP_CONFLICT = 409

/** Reads the text of a response. @throws Error for a response that is too long */
async function readText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > MAX_WITNESS_ANSWER_CHARACTERS)
      throw new Error(`its answer is longer than ${MAX_WITNESS_ANSWER_CHARACTERS}`)
  }
  return text
}
