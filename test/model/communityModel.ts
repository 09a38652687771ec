import { Model, type StepResult } from './clusterModel.js'
import { blockMsOf, type CommunityStep, msAt, RULES, type Rules } from './communitySteps.js'

/** A name below a community: its owner by number, the cluster that got it by a claim, the step. */
export interface Below {
  community: string
  name: string
  w: number
  isVerified: boolean
  assigned: number | null
  /** The claim that this was for, by the number of its word. */
  claim: number | null
  at: number
}

export interface CommunityResult extends StepResult {
  /** Outcome of a payment. */
  payment?: string
}

type Doing<D extends CommunityStep['do']> = Extract<CommunityStep, { do: D }>

/** The rules of communities, implemented a second time on the model of clusters, as plainly as possible. */
export class CommunityModel extends Model {
  /** Configurations in their order. */
  readonly configured: { name: string; rules: Rules; at: number }[] = []
  readonly below: Below[] = []

  play(s: CommunityStep, at: number): CommunityResult {
    if (s.do === 'configure') return this.configure(s, at)
    if (s.do === 'register') return this.register(s, at)
    return s.do === 'pay' ? this.pay(s, at) : this.run(s, at)
  }

  protected override isReserved(c: number, name: string): boolean {
    return this.held(c).some((held) =>
      this.below.some((one) => one.community === held && one.name === name),
    )
  }

  private holder(name: string): number {
    return this.names.find((held) => held.name === name)?.cluster ?? -1
  }

  /** The rules in force at a time. */
  private rules(name: string, ms: number): Rules | null {
    return (
      this.configured.filter((one) => one.name === name && msAt(one.at) <= ms).at(-1)?.rules ?? null
    )
  }

  private isPublic(w: number): boolean {
    const home = this.home(w)
    return home >= 0 && !this.clusters[home]!.get(w)!.isPrivate
  }

  private configure(s: Doing<'configure'>, at: number): CommunityResult {
    const holder = this.holder(s.name)
    if (holder < 0) return refused('not_found')
    if (s.w !== null && this.home(s.w) !== holder) return refused('forbidden')
    const rules = RULES[s.rules]!
    if (this.rules(s.name, Number.POSITIVE_INFINITY) === rules) return NOTHING
    this.configured.push({ name: s.name, rules, at })
    return { ...NOTHING, actor: s.w === null ? null : this.known(s.w, holder) }
  }

  private known(w: number, home: number): number | null {
    return this.isPublic(w) ? w : this.eldest(home)
  }

  private isTaken(community: string, name: string): boolean {
    if (this.below.some((one) => one.community === community && one.name === name)) return true
    const entries = this.clusters[this.holder(community)]?.values() ?? []
    return [...entries].some((entry) => !entry.isPrivate && entry.name === name)
  }

  private register(s: Doing<'register'>, at: number): CommunityResult {
    const home = this.home(s.w)
    const rules = this.rules(s.name, msAt(at))
    const got = this.below.find(
      (one) => one.community === s.name && one.assigned === home && home >= 0,
    )
    if (s.isAssigned && got?.name === s.below) return NOTHING
    const refusal = s.isAssigned
      ? this.whyNotAssigned(s, rules, home, got)
      : this.whyNotFree(s, rules, home, at)
    if (refusal) return refused(refusal)
    const isInside = home >= 0 && this.home(s.of) === home
    // the published part
    const isKnown = isInside && this.isPublic(s.of)
    const isOwners =
      home >= 0 && this.holder(s.name) === home && (rules!.ownersOnly || s.of !== s.w)
    const by = s.isAssigned ? { assigned: home, claim: s.met } : {}
    const events = this.take(s, s.of, home < 0 || isKnown || !isOwners, at, by)
    if (home < 0) return { refusal: null, events, actor: s.w }
    return { refusal: null, events, actor: isKnown || isOwners ? this.known(s.w, home) : s.of }
  }

  private whyNotAssigned(
    s: Doing<'register'>,
    rules: Rules | null,
    home: number,
    got?: Below,
  ): string | null {
    if (!rules) return 'community not_found'
    if (home < 0 || this.home(s.of) !== home) return 'not_in_cluster'
    const isUsed = this.below.some(
      (one) => one.community === s.name && one.claim !== null && one.claim === s.met,
    )
    if (got || isUsed) return 'already_assigned'
    return this.isTaken(s.name, s.below) ? 'community not_available' : null
  }

  private whyNotFree(
    s: Doing<'register'>,
    rules: Rules | null,
    home: number,
    at: number,
  ): string | null {
    if (!rules) return 'community not_found'
    if (rules.startsAt !== null && msAt(at) < rules.startsAt) return 'community not_active'
    const isOwner = home >= 0 && this.holder(s.name) === home
    const isOther = s.of !== s.w && (home < 0 || this.home(s.of) !== home)
    if (!isOwner && (rules.ownersOnly || isOther)) return 'community not_verified'
    if (this.isTaken(s.name, s.below)) return 'community not_available'
    if (rules.requirements !== 0 && s.met !== rules.requirements) return 'rules_changed'
    return rules.prices.length > 0 && !(isOwner && isOther) ? 'rules_changed' : null
  }

  private pay(s: Doing<'pay'>, at: number): CommunityResult {
    const outcome = this.judge(s, blockMsOf(s.ago, at))
    if (outcome !== 'registered') return { ...NOTHING, actor: s.w, payment: outcome }
    const events = this.take(s, s.w, true, at)
    return { refusal: null, events, actor: s.w, payment: outcome }
  }

  private judge(s: Doing<'pay'>, blockMs: number): string {
    if (s.name === '' || s.below === '') return 'malformed_name'
    // a block's time is in whole seconds
    const until = blockMs + 999
    const rules = this.rules(s.name, until)
    if (!rules) return 'not_found'
    if (rules.startsAt !== null && blockMs < rules.startsAt) return 'not_active'
    const since = blockMs - 30 * 60_000
    const moments = [
      since,
      ...this.configured.map((one) => msAt(one.at)).filter((ms) => ms > since && ms <= until),
    ]
    const asked = moments
      .flatMap((ms) => this.rules(s.name, ms)?.prices ?? [])
      .filter(([target]) => target === s.to)
      .map(([, amount]) => amount)
    if (asked.length === 0) return 'no_price'
    if (s.amount < Math.min(...asked)) return 'underpaid'
    if (this.isTaken(s.name, s.below)) return 'lost'
    return s.met === rules.requirements ? 'registered' : 'requirements_not_met'
  }

  private take(
    { name: community, below: name }: Doing<'register' | 'pay'>,
    w: number,
    isVerified: boolean,
    at: number,
    { assigned = null, claim = null }: Partial<Pick<Below, 'assigned' | 'claim'>> = {},
  ): string[] {
    const cluster = this.isPublic(w) ? this.home(w) : null
    this.below.push({ community, name, w, isVerified, assigned, claim, at })
    return [`REGISTER_COMMUNITY_NAME ${community} ${name} ${w} ${cluster}`]
  }
}

const NOTHING: CommunityResult = { refusal: null, events: [], actor: null }
const refused = (refusal: string): CommunityResult => ({ ...NOTHING, refusal })
