import { fallbackOnExpectedError } from '../../ops/logger/errors.js'
import { ChainUnavailableError } from '../chain.js'

/** Too few nodes gave equal answers, so no answer is accepted. */
export class NoQuorumError extends ChainUnavailableError {
  override name = 'NoQuorumError'
}

/** Nodes gave unequal answers to a call whose answer would be accepted permanently. */
export class NodesDisagreeError extends NoQuorumError {
  override name = 'NodesDisagreeError'
}

/** Fewer nodes answered than have to agree. */
export class NodesSilentError extends NoQuorumError {
  override name = 'NodesSilentError'
}

/** True if a call failed because too few nodes answered, and not because nodes contradict each other. */
export const isSilenceOfNodes = (error: unknown): boolean =>
  error instanceof ChainUnavailableError && !(error instanceof NodesDisagreeError)

/**
 * Resolves to `fallback` if too few nodes give equal answers (NoQuorumError).
 * @throws every other error, such as ChainUnavailableError where no node answers
 */
export const fallbackIfNoQuorum = <T>(request: Promise<T>, fallback: T): Promise<T> =>
  fallbackOnExpectedError(request, (error) => error instanceof NoQuorumError, fallback)

/** Conditions on which an answer of several nodes is accepted. */
export interface AgreementOptions<T> {
  /** True if two answers count as equal. Default: deep equality. */
  isSame?: (a: T, b: T) => boolean
  /**
   * True if `ask` checks answers against agreed data, and throws RefutedAnswerError. If all nodes but one fail this
   * check, the answer of that node is accepted.
   */
  isProved?: boolean | undefined
  /** Subject of the question in error messages, such as `block 7`. */
  about?: string | undefined
}

/**
 * An answer with the distinct nodes that support it: they gave an equal answer, or have reached the height that it
 * states. Only `NodeAnswers` creates instances, so `givers` are always nodes that answered.
 */
class AgreedAnswer<T, Node = { readonly host: string }> {
  /**
   * The nodes that support the answer, each once. In a result of `NodeAnswers.agreement`, the first node is the one
   * whose answer is returned.
   */
  readonly givers: readonly Node[]
  readonly #answer: T

  constructor(answer: T, givers: readonly Node[]) {
    this.#answer = answer
    this.givers = givers
  }

  get answer(): T {
    return this.#answer
  }

  /** Number of nodes that support the answer. */
  get nodes(): number {
    return this.givers.length
  }

  /** A value derived from the answer, with the same givers. */
  map<R>(derive: (answer: T) => R): AgreedAnswer<R, Node> {
    return new AgreedAnswer(derive(this.#answer), this.givers)
  }
}

export type { AgreedAnswer }

/**
 * Answers of nodes to one question, one for each node: a later answer of a node replaces the node's earlier answer.
 * No other code counts the nodes that agree.
 */
export class NodeAnswers<Node, T> {
  readonly #answers = new Map<Node, T>()

  set(node: Node, answer: T): void {
    this.#answers.set(node, answer)
  }

  get nodes(): Node[] {
    return [...this.#answers.keys()]
  }

  get answers(): T[] {
    return [...this.#answers.values()]
  }

  /** The first answer that at least `needed` nodes gave, compared by `isSame`. Null while there is none. */
  agreement(needed: number, isSame: (a: T, b: T) => boolean): AgreedAnswer<T, Node> | null {
    const all = [...this.#answers]
    for (const [i, [node, answer]] of all.entries()) {
      const others = all.slice(i + 1).filter(([, other]) => isSame(answer, other))
      const givers = [node, ...others.map(([other]) => other)]
      if (givers.length >= needed) return new AgreedAnswer(answer, givers)
    }
    return null
  }

  /**
   * The answer with the greatest height that at least `needed` nodes have reached. Null where fewer answered.
   * @param heightOf height that an answer states; its node has reached all lower heights too
   */
  reached(needed: number, heightOf: (answer: T) => number): AgreedAnswer<T, Node> | null {
    const highestFirst = [...this.#answers].sort(([, a], [, b]) => heightOf(b) - heightOf(a))
    const givers = highestFirst.slice(0, needed)
    const lowest = givers.at(-1)
    if (!lowest || givers.length < needed) return null
    return new AgreedAnswer(
      lowest[1],
      givers.map(([node]) => node),
    )
  }
}
